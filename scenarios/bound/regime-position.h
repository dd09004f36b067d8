// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_REGIME_POSITION_H
#define WEIR_SCENARIOS_BOUND_REGIME_POSITION_H

#include "fabric/topology/cluster.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace weir
{

/** What the bound of any estimate on a cluster depends on. */
struct ClusterFeatures
{
    double oversubscription{1}; //!< of the leaf with least rate upwards: rate of its NICs over it
    double nodeRate{0};         //!< GB/s of the fastest link of a GPU
    double networkRate{0};      //!< GB/s of all NICs of a node over its GPUs; 0 without NICs

    bool IsOversubscribed() const
    {
        constexpr double EVEN = 1.05; // of rounding to whole links
        return oversubscription > EVEN;
    }
};

/** O(links). */
ClusterFeatures FeaturesOf(const Cluster& cluster);

/** Classes of paths: what decides a time. */
constexpr const char* CONTENDED = "contended";     //!< other traffic
constexpr const char* INSIDE_NODES = "inside";     //!< between nodes: a link inside one
constexpr const char* UNCONTENDED = "uncontended"; //!< neither

/** Where an estimate stands: which regime its error belongs to, and its features within it. */
struct RegimePosition
{
    std::vector<std::string> path; //!< from the widest class to the narrowest
    std::vector<double> features; //!< logarithms of base 2, in the order of the calibration's names
    std::size_t minDepth{1}; //!< so many classes of the path a regime must name to stand for it
    std::string unsampled{}; //!< what of it no sample has, so that it has no regime; empty: nothing
};

/** A feature of @p value: its logarithm of base 2, at least that of a thousandth. */
inline double
FeatureOf(double value)
{
    constexpr double SMALLEST = 1e-3; // as good as nothing: microseconds, GB/s, shares
    return std::log2(std::max(SMALLEST, value));
}

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_REGIME_POSITION_H
