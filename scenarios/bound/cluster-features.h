// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CLUSTER_FEATURES_H
#define WEIR_SCENARIOS_BOUND_CLUSTER_FEATURES_H

#include "fabric/topology/cluster.h"

namespace weir
{

/** What the bound of any estimate on a cluster depends on. */
struct ClusterFeatures
{
    double oversubscription{1}; //!< of the leaf with least rate upwards: rate of its NICs over it
    double nodeRate{0};         //!< GB/s of the fastest link of a GPU
    double networkRate{0};      //!< GB/s of all NICs of a node over its GPUs; 0 without NICs
};

/** O(links). */
ClusterFeatures FeaturesOf(const Cluster& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CLUSTER_FEATURES_H
