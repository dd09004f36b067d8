// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_WAY_DEMAND_H
#define WEIR_FABRIC_WAY_DEMAND_H

#include "fabric/ids.h"
#include "fabric/routing/path-table.h"

#include <vector>

namespace weir
{

/** What goes from one switch to another, and how it is divided over links. */
struct WayDemand
{
    DeviceId first;
    DeviceId last;
    double weight{0};
    std::vector<LinkShare> shares{}; //!< of the weight; by ascending link
};

/** What links carry and can carry now, by LinkId. */
struct LinkStates
{
    std::vector<double> loads; //!< weights of transfers over the rate
    std::vector<double> rates; //!< bytes/s; of a link that is down what it had
};

} // namespace weir

#endif // WEIR_FABRIC_WAY_DEMAND_H
