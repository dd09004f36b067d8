// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_POPULATION_H
#define WEIR_SCENARIOS_BOUND_POPULATION_H

#include <cstdint>

namespace weir
{

/** What scenarios a sample is drawn from. */
enum class Population : uint8_t
{
    Calibrated,   //!< what the shipped calibration covers
    LargerGroups, //!< of collectives up to twice as many ranks as calibrated, of steps replicas
    OtherFabrics, //!< more oversubscription than calibrated
    OtherMachines //!< links of other speeds inside and between nodes
};

constexpr Population LAST_POPULATION = Population::OtherMachines;

/** How many times the ranks or replicas of the calibrated population larger groups have at most. */
constexpr uint32_t LARGER_GROUPS = 2;

/** As a reader is told: "calibrated", "larger groups", ... */
const char* ToString(Population population);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_POPULATION_H
