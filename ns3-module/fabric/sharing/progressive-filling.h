// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PROGRESSIVE_FILLING_H
#define WEIR_FABRIC_PROGRESSIVE_FILLING_H

#include <cstddef>
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
std::vector<double> ProgressiveFilling(const std::vector<double>& capacities,
                                       const std::vector<FillingFlow>& flows);

} // namespace weir

#endif // WEIR_FABRIC_PROGRESSIVE_FILLING_H
