// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_BLOCKS_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_BLOCKS_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/schedule/schedule-wiring.h"
#include "collectives/schedule/schedule.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * What schedules of NVLS and NVLSTree have in common: thread blocks, and how they start.
 */
namespace weir
{

/** A schedule without channels. */
Schedule EmptyNvlsSchedule(const AlgorithmInputs& inputs, Algorithm algorithm);

/** One primitive per chunk, each over the connection of the same number. */
Program EachChunk(PrimitiveKind kind, uint32_t chunks);

/** One primitive on the block's own chunk. */
Program OneStep(PrimitiveKind kind, uint32_t recvs, uint32_t sends);

/**
 * The groups of a rank that copy its data to where the NVSwitch reads: a block that sends chunk
 * place + i over @p copy to @p heads[place + i].
 */
void AddCopyIn(ScheduleWiring& wiring,
               uint32_t rank,
               uint32_t place,
               const std::vector<uint32_t>& heads,
               const ScheduleConnection& copy);

/** The groups that copy what came back to the user's buffer: the same, receiving. */
void AddCopyOut(ScheduleWiring& wiring,
                uint32_t rank,
                uint32_t place,
                const std::vector<uint32_t>& heads,
                const ScheduleConnection& copy);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_BLOCKS_H
