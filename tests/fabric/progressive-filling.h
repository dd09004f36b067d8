// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_PROGRESSIVE_FILLING_H
#define WEIR_TESTS_FABRIC_PROGRESSIVE_FILLING_H

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace weir
{

/** One flow of a sharing problem. */
struct FillingFlow
{
    std::vector<std::pair<std::size_t, double>> links; //!< (link, number of crossings per byte)
    double weight;                                     //!< positive
    double cap;                                        //!< upper limit of its rate (bytes/s)
};

/**
 * The weighted max-min fair rates by progressive filling: the oracle that the fast solver must
 * equal, as simple as the definition (Bertsekas and Gallager, Data Networks, 1992, sec. 6.5.2).
 *
 * The rates of all flows rise simultaneously, each in proportion to its weight; a flow stops at its
 * cap or when a link on its path is saturated. Complexity O(flows^2 * path).
 *
 * @param capacities of the links (bytes/s), zero or more, may be infinite
 * @return the rate of each flow (bytes/s), infinite if nothing limits it
 */
inline std::vector<double>
ProgressiveFilling(const std::vector<double>& capacities, const std::vector<FillingFlow>& flows)
{
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> rates(flows.size(), infinity);
    std::vector<bool> rising(flows.size(), true);
    for (std::size_t left = flows.size(); left > 0;)
    {
        // Level at which each link saturates: the capacity left by stopped flows, over the weight
        // of the rising flows.
        std::vector<double> used(capacities.size(), 0);
        std::vector<double> weight(capacities.size(), 0);
        for (std::size_t f = 0; f < flows.size(); f++)
        {
            for (const auto& [link, times] : flows[f].links)
            {
                (rising[f] ? weight : used)[link] +=
                    times * (rising[f] ? flows[f].weight : rates[f]);
            }
        }
        const auto levelOf = [&](const FillingFlow& flow) {
            double level = flow.cap / flow.weight;
            for (const auto& [link, times] : flow.links)
            {
                level =
                    std::min(level, std::max(0.0, capacities[link] - used[link]) / weight[link]);
            }
            return level;
        };
        // The flows at the lowest level stop next.
        double lowest = infinity;
        for (std::size_t f = 0; f < flows.size(); f++)
        {
            lowest = rising[f] ? std::min(lowest, levelOf(flows[f])) : lowest;
        }
        for (std::size_t f = 0; f < flows.size(); f++)
        {
            if (rising[f] && levelOf(flows[f]) <= lowest)
            {
                rising[f] = false;
                rates[f] = lowest * flows[f].weight;
                left--;
            }
        }
    }
    return rates;
}

} // namespace weir

#endif // WEIR_TESTS_FABRIC_PROGRESSIVE_FILLING_H
