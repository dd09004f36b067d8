// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/bound/random-draws.h"

#include <cstdint>
#include <string>

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

/** NCCL's version of a sampled scenario: half of them have Weir's default, the others another
 * release whose constants differ. */
std::string DrawNcclVersion(RandomDraws& draws);

/** What of @p version no sample has: "NCCL 2.7.8" before the first release drawn; empty: nothing.
 * @throws std::invalid_argument as NcclVersion::Parse. */
std::string UnsampledNcclVersion(const std::string& version);

/**
 * The keys of a system's network: ", fabric: {...}" with a Clos of switches, its oversubscription
 * and its routing; sometimes none, so that the system's own is kept.
 */
std::string DrawFabric(RandomDraws& draws, Population population);

/** Nothing where samples have fabrics of that kind, or nodes are not joined; else "fabric KIND". */
std::string UnsampledFabric(const ClusterSpec& cluster);

/** Makes links other than any machine of the catalogue has: eight times as fast inside a node,
 * sixteen times between nodes. */
void ChangeSpeeds(ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H
