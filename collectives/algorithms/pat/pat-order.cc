// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/pat/pat-order.h"

namespace weir
{

std::vector<PatDistance>
PatDistances(uint32_t ranks)
{
    uint32_t distance = 1;
    while (2 * distance < ranks)
    {
        distance *= 2;
    }
    std::vector<PatDistance> distances;
    for (; distance > 0; distance /= 2)
    {
        PatDistance each{distance, {}};
        for (uint32_t offset = distance; offset < ranks; offset += 2 * distance)
        {
            each.offsets.push_back(offset);
        }
        if (!each.offsets.empty())
        {
            distances.push_back(std::move(each));
        }
    }
    return distances;
}

} // namespace weir
