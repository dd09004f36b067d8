// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LINK_SCRATCH_H
#define WEIR_FABRIC_LINK_SCRATCH_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * What LoadLevelling writes down by LinkId, kept from one use to the next: a fabric has far more
 * links than the loads that are levelled cross, most of the time.
 */
struct LinkScratch
{
    /** For links up to @p links. O(1) but for the first time. */
    void Reserve(std::size_t links)
    {
        if (loads.size() < links)
        {
            loads.resize(links, 0);
            powers.resize(links, 0);
            stamps.resize(links, 0);
        }
    }

    std::vector<double> loads;    //!< whoever changes some sets them to nothing again
    std::vector<double> powers;   //!< as of stamps
    std::vector<uint64_t> stamps; //!< when a link's power was computed
    uint64_t stamp{0};            //!< of the round at hand
};

} // namespace weir

#endif // WEIR_FABRIC_LINK_SCRATCH_H
