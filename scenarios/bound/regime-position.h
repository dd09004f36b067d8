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

/** Features of a cluster that the bound of any estimate depends on. */
struct ClusterFeatures
{
    double oversubscription{1}; //!< largest ratio, over leaves, of NIC rate to uplink rate
    double nodeRate{0};         //!< GB/s of the fastest link of a GPU
    double networkRate{0};      //!< GB/s of all NICs of a node per GPU; 0 without NICs

    bool IsOversubscribed() const
    {
        constexpr double EVEN = 1.05; // tolerance for rounding to whole links
        return oversubscription > EVEN;
    }
};

/** The features of @p cluster. O(links). */
ClusterFeatures FeaturesOf(const Cluster& cluster);

/** Contention classes: what limits a time. */
constexpr const char* CONTENDED = "contended"; //!< other traffic
constexpr const char* INSIDE_NODES = "inside"; //!< a link inside a node, for calls between nodes
constexpr const char* UNCONTENDED = "uncontended"; //!< neither

/**
 * The position of an estimate: the regime that its error belongs to, and its features within it.
 */
struct RegimePosition
{
    std::vector<std::string> path; //!< from the widest class to the narrowest
    std::vector<double> features; //!< logarithms to base 2, in the order of the calibration's names
    std::size_t minDepth{1};      //!< least number of classes that its regime must name
    std::string unsampled{};      //!< why no sample, and so no regime, covers it; empty: some do
};

/** The feature of @p value: log2 of the value, or of 0.001 if that is larger. */
inline double
FeatureOf(double value)
{
    constexpr double SMALLEST = 1e-3; // negligible in all units: microseconds, GB/s, shares
    return std::log2(std::max(SMALLEST, value));
}

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_REGIME_POSITION_H
