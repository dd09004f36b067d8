// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_FABRIC_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/bound/population.h"
#include "scenarios/bound/random-draws.h"

#include <string>

namespace weir
{

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
