// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/closed-form.h"

namespace weir
{

AloneRates::AloneRates(const std::vector<StreamLeg>& legs, const PathTable& paths)
    : m_legs(legs),
      m_paths(paths)
{
    if (PathSharing* sharing = paths.GetSharing())
    {
        std::vector<PathLoad> loads;
        for (const auto& leg : legs)
        {
            loads.push_back({leg.path, leg.weight});
        }
        m_together = sharing->Together(loads);
    }
    for (const auto& leg : legs)
    {
        paths.ForEachShare(leg.path, Sharing(), [&](LinkId link, double share) {
            m_loads[link.Index()] += share * leg.weight;
        });
    }
}

PathSharing*
AloneRates::Sharing() const
{
    return m_together ? m_together.get() : m_paths.GetSharing();
}

AloneRates::Share
AloneRates::ShareOn(PathId path, Rate cap) const
{
    const auto& topology = m_paths.GetTopology();
    Share share{cap, LinkId()};
    m_paths.ForEachShare(path, Sharing(), [&](LinkId link, double own) {
        // A hop of a leg may spread over links that the leg as a whole was not counted on.
        const auto load = m_loads.find(link.Index());
        const Rate level =
            topology.GetLink(link).rate / (load == m_loads.end() ? own : load->second);
        if (level < share.rate)
        {
            share = {level, link};
        }
    });
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

Time
AloneTime(const std::vector<StreamLeg>& legs, const PathTable& paths)
{
    return AloneRates(legs, paths).SlowestLeg().time;
}

} // namespace weir
