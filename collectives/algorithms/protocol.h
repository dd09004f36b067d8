// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_PROTOCOL_H
#define WEIR_COLLECTIVES_ALGORITHMS_PROTOCOL_H

#include "collectives/collective.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/units.h"

#include <cstdint>

/**
 * @file
 * What a protocol puts on the wire and how it cuts a message: NCCL 2.30's device.h, init.cc and
 * collectives.h. These sizes are the same in all versions that Weir knows.
 */
namespace weir
{

/** Slots of one connection: NCCL_STEPS. */
constexpr uint32_t NCCL_STEPS = 8;

/** Every chunk but the last is a whole number of these (NCCL aligns to 16 bytes). */
constexpr Bytes CHUNK_ALIGNMENT{16};

/** What a protocol's buffers hold. */
struct ProtocolShape
{
    double efficiency; //!< payload over wire: 8/16 for LL, 120/128 for LL128, 1 for Simple
    Bytes step;        //!< payload of one of the NCCL_STEPS slots
};

/**
 * LL: 8 lines x 512 threads x 16 bytes a step, half of it data. LL128: 120 x 640 x 8 bytes a step,
 * 15/16 of it data. Simple: an eighth of @p simpleBuffer.
 */
ProtocolShape ShapeOf(Protocol protocol, Bytes simpleBuffer = SIMPLE_BUFFER);

/** How a channel's share of a message is cut. */
struct Chunking
{
    Bytes chunk;     //!< payload of a full chunk
    uint32_t slices; //!< pieces in which a chunk is sent
    uint32_t slots;  //!< pieces that one buffer holds
};

/**
 * Ring all-reduce, all-gather and reduce-scatter: Simple moves chunks of 4 steps in 2 slices of 2
 * steps; LL and LL128 move single steps.
 */
Chunking RingChunking(Protocol protocol, Bytes simpleBuffer = SIMPLE_BUFFER);

/** Broadcast: one step is one slice, whatever the protocol. */
Chunking PipelineChunking(Protocol protocol, Bytes simpleBuffer = SIMPLE_BUFFER);

/**
 * Passes that a thread block makes over a chunk of @p payload: LL and LL128 hand lines on one by
 * one, so what one pass moves is the next rank's before the rest has come (prims_ll.h: 512 threads
 * of 8 bytes; prims_ll128.h: 640 threads of 64 bytes, 15/16 of them data). One under Simple, whose
 * slices are handed on whole.
 */
uint32_t PassesOf(Protocol protocol, Bytes payload);

/**
 * What one of these passes moves, the last one moving the rest: @p payload where one does it all.
 */
Bytes PassOf(Protocol protocol, Bytes payload);

/** What @p payload occupies on the wire under @p protocol, rounded up to whole bytes. */
Bytes WireBytes(Protocol protocol, Bytes payload);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_PROTOCOL_H
