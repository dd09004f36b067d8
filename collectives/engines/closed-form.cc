// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/closed-form.h"

namespace weir
{

AloneRates::AloneRates(const std::vector<StreamLeg>& legs, const PathTable& paths)
    : m_legs(legs),
      m_paths(paths)
{
    for (const auto& leg : legs)
    {
        for (const auto& each : paths.Links(leg.path))
        {
            m_loads[each.link.Index()] += each.multiplicity * leg.weight;
        }
    }
}

AloneRates::Share
AloneRates::ShareOn(PathId path, Rate cap) const
{
    const auto& topology = m_paths.GetTopology();
    Share share{cap, LinkId()};
    for (const auto& each : m_paths.Links(path))
    {
        const Rate level = topology.GetLink(each.link).rate / m_loads.at(each.link.Index());
        if (level < share.rate)
        {
            share = {level, each.link};
        }
    }
    return share;
}

AloneRates::Slowest
AloneRates::SlowestLeg() const
{
    Slowest slowest;
    for (const auto& leg : m_legs)
    {
        const Share share = ShareOn(leg.path, leg.cap / leg.weight);
        const Time time = leg.bytes / (share.rate * leg.weight);
        if (time > slowest.time)
        {
            slowest = {time, share.bottleneck};
        }
    }
    return slowest;
}

} // namespace weir
