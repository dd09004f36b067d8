// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/bound/random-draws.h"

#include <cstdint>
#include <string>

namespace weir
{

/** The population that a sample is drawn from. */
enum class Population : uint8_t
{
    Calibrated,   //!< covered by the shipped calibration
    LargerGroups, //!< up to twice the ranks (collectives) or replicas (steps)
    OtherFabrics, //!< more oversubscription than calibrated
    OtherMachines //!< links of other rates inside and between nodes
};

constexpr Population LAST_POPULATION = Population::OtherMachines;

/** Factor between the largest groups (ranks or replicas) of LargerGroups and of Calibrated. */
constexpr uint32_t LARGER_GROUPS = 2;

/** The name for users: "calibrated", "larger groups", ... */
const char* ToString(Population population);

/**
 * Draws the NCCL version of a scenario: Weir's default with probability 1/2, else another release
 * whose constants differ.
 */
std::string DrawNcclVersion(RandomDraws& draws);

/**
 * "NCCL 2.7.8" for versions before the first one in samples; empty for others.
 * @throws std::invalid_argument as NcclVersion::Parse.
 */
std::string UnsampledNcclVersion(const std::string& version);

/**
 * Draws the YAML of a system's network: ", fabric: {...}" with a Clos of switches, its
 * oversubscription and its routing; sometimes empty, which keeps the system's own fabric.
 */
std::string DrawFabric(RandomDraws& draws, Population population);

/**
 * "fabric KIND" where samples contain no fabric of that kind; empty where they do, or for a single
 * node.
 */
std::string UnsampledFabric(const ClusterSpec& cluster);

/**
 * Sets link rates outside the range of the catalog's machines: 8 times as fast inside nodes, 16
 * times between nodes.
 */
void ChangeSpeeds(ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H
