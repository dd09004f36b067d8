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

/** One flow of a sharing problem written down plainly. */
struct FillingFlow
{
    std::vector<std::pair<std::size_t, double>> links; //!< (link, times each byte crosses it)
    double weight;                                     //!< of its share, positive
    double cap;                                        //!< upper limit of its rate (bytes/s)
};

/**
 * The weighted max-min fair rates by progressive filling: the oracle that the fast solver must
 * equal, kept as plain as the definition (Bertsekas and Gallager, Data Networks, 1992, sec. 6.5.2).
 *
 * The rates of all flows rise together, each in proportion to its weight; a flow stops where its
 * cap or a full link stops it. O(flows * links * path), no cleverness.
 *
 * @param capacities of the links (bytes/s), zero or more, infinity allowed.
 * @return a rate for each flow (bytes/s), infinite where nothing stops it.
 */
inline std::vector<double>
ProgressiveFilling(const std::vector<double>& capacities, const std::vector<FillingFlow>& flows)
{
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> rates(flows.size(), infinity);
    std::vector<bool> rising(flows.size(), true);
    for (std::size_t left = flows.size(); left > 0;)
    {
        // The level each link fills at: what stopped flows leave, over the weight of the rising.
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
        // The lowest of all is where the next flows stop.
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
