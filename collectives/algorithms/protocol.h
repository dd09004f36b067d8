// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_PROTOCOL_H
#define WEIR_COLLECTIVES_ALGORITHMS_PROTOCOL_H

#include "collectives/collective.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/units.h"

#include <cstdint>

/**
 * @file
 * How a protocol encodes bytes on the wire and cuts a message: NCCL 2.30's device.h, init.cc and
 * collectives.h. These sizes are the same in all supported versions.
 */
namespace weir
{

/** Slots of one connection: NCCL_STEPS. */
constexpr uint32_t NCCL_STEPS = 8;

/** The size of every chunk but the last is a multiple of this (NCCL aligns to 16 bytes). */
constexpr Bytes CHUNK_ALIGNMENT{16};

/** The efficiency and buffer size of a protocol. */
struct ProtocolShape
{
    double efficiency; //!< payload over wire: 8/16 for LL, 120/128 for LL128, 1 for Simple
    Bytes step;        //!< payload of one of the NCCL_STEPS slots
};

/**
 * LL: 8 flag words of 16 bytes x 512 threads per step, half of it data. LL128: 120 x 640 x 8 bytes
 * per step, 15/16 of it data. Simple: an eighth of @p simpleBuffer.
 */
ProtocolShape ShapeOf(Protocol protocol, Bytes simpleBuffer = SIMPLE_BUFFER);

/** How a channel's share of a message is cut. */
struct Chunking
{
    Bytes chunk;     //!< payload of a full chunk
    uint32_t slices; //!< number of pieces in which a chunk is sent
    uint32_t slots;  //!< number of pieces that one buffer holds
};

/**
 * Ring all-reduce, all-gather and reduce-scatter: Simple moves chunks of 4 steps in 2 slices of 2
 * steps; LL and LL128 move single steps.
 */
Chunking RingChunking(Protocol protocol, Bytes simpleBuffer = SIMPLE_BUFFER);

/** All other algorithms, such as broadcast and tree: one step is one slice under any protocol. */
Chunking PipelineChunking(Protocol protocol, Bytes simpleBuffer = SIMPLE_BUFFER);

/**
 * Passes that a thread block makes over a chunk of @p payload. LL and LL128 forward data word by
 * word, so that the next rank has the data of one pass before the rest has arrived (prims_ll.h: 512
 * threads of 8 bytes; prims_ll128.h: 640 threads of 64 bytes, 15/16 of them data). Simple makes one
 * pass and forwards whole slices.
 */
uint32_t PassesOf(Protocol protocol, Bytes payload);

/** Payload of one of these passes, the last of which moves the rest; @p payload if there is one. */
Bytes PassOf(Protocol protocol, Bytes payload);

/** @p chunk, halved as long as it is above @p min and @p bytes are fewer than @p wanted chunks.
 */
Bytes Halved(Bytes chunk, Bytes min, Bytes bytes, int64_t wanted);

/** Bytes of @p payload on the wire under @p protocol, rounded up. */
Bytes WireBytes(Protocol protocol, Bytes payload);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_PROTOCOL_H
