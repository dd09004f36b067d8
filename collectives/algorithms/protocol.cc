// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/protocol.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

ProtocolShape
ShapeOf(Protocol protocol, Bytes simpleBuffer)
{
    switch (protocol)
    {
    case Protocol::Ll:
        return {8.0 / 16.0, Bytes(8 * 512 * 16 / 2)};
    case Protocol::Ll128:
        return {120.0 / 128.0, Bytes(120 * 640 * 8 / 16 * 15)};
    case Protocol::Simple:
        return {1.0, Bytes(simpleBuffer.Count() / NCCL_STEPS)};
    }
    throw std::logic_error("ShapeOf: no such protocol");
}

Chunking
RingChunking(Protocol protocol, Bytes simpleBuffer)
{
    const Bytes step = ShapeOf(protocol, simpleBuffer).step;
    if (protocol == Protocol::Simple)
    {
        return {step * 4, 2, NCCL_STEPS / 2};
    }
    return {step, 1, NCCL_STEPS};
}

Chunking
PipelineChunking(Protocol protocol, Bytes simpleBuffer)
{
    return {ShapeOf(protocol, simpleBuffer).step, 1, NCCL_STEPS};
}

uint32_t
PassesOf(Protocol protocol, Bytes payload)
{
    const Bytes pass = PassOf(protocol, payload);
    return pass == payload
               ? 1
               : static_cast<uint32_t>((payload.Count() + pass.Count() - 1) / pass.Count());
}

Bytes
PassOf(Protocol protocol, Bytes payload)
{
    switch (protocol)
    {
    case Protocol::Ll:
        return std::min(payload, Bytes(512 * 8));
    case Protocol::Ll128:
        return std::min(payload, Bytes(640 * 64 / 16 * 15));
    case Protocol::Simple:
        break;
    }
    return payload;
}

Bytes
Halved(Bytes chunk, Bytes min, Bytes bytes, int64_t wanted)
{
    while (chunk > min && bytes < chunk * wanted)
    {
        chunk = chunk / 2;
    }
    return chunk;
}

Bytes
WireBytes(Protocol protocol, Bytes payload)
{
    switch (protocol)
    {
    case Protocol::Ll:
        return payload * 2;
    case Protocol::Ll128:
        return Bytes((payload.Count() * 16 + 14) / 15);
    case Protocol::Simple:
        break;
    }
    return payload;
}

} // namespace weir
