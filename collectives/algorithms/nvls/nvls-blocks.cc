// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-blocks.h"

#include "collectives/algorithms/nvls/nvls-chunking.h"

namespace weir
{

Schedule
EmptyNvlsSchedule(const AlgorithmInputs& inputs, Algorithm algorithm)
{
    Schedule schedule;
    schedule.op = inputs.call.op;
    schedule.algorithm = algorithm;
    schedule.protocol = inputs.protocol;
    schedule.startLatency = NvlsStartLatency(inputs.constants, algorithm);
    return schedule;
}

Program
EachChunk(PrimitiveKind kind, uint32_t chunks)
{
    Program program;
    for (uint32_t i = 0; i < chunks; ++i)
    {
        Primitive step{kind, static_cast<int32_t>(i)};
        step.recvFrom = static_cast<uint16_t>(i);
        step.sendTo = static_cast<uint16_t>(i);
        program.primitives.push_back(step);
    }
    return program;
}

Program
OneStep(PrimitiveKind kind, uint32_t recvs, uint32_t sends)
{
    Primitive step{kind, 0};
    step.recvs = static_cast<uint16_t>(recvs);
    step.sends = static_cast<uint16_t>(sends);
    return {{step}};
}

void
AddCopyIn(ScheduleWiring& wiring,
          uint32_t rank,
          uint32_t place,
          const std::vector<uint32_t>& heads,
          const ScheduleConnection& copy)
{
    const auto chunks = static_cast<uint32_t>(heads.size());
    const uint32_t block = wiring.AddBlock(rank, place, EachChunk(PrimitiveKind::Send, chunks));
    for (uint32_t i = 0; i < chunks; ++i)
    {
        wiring.Join(block, heads[(place + i) % chunks], copy);
    }
}

void
AddCopyOut(ScheduleWiring& wiring,
           uint32_t rank,
           uint32_t place,
           const std::vector<uint32_t>& heads,
           const ScheduleConnection& copy)
{
    const auto chunks = static_cast<uint32_t>(heads.size());
    const uint32_t block = wiring.AddBlock(rank, place, EachChunk(PrimitiveKind::Recv, chunks));
    for (uint32_t i = 0; i < chunks; ++i)
    {
        wiring.Join(heads[(place + i) % chunks], block, copy);
    }
}

} // namespace weir
