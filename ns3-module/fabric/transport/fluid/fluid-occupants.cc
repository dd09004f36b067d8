// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weir
{

FlowId
FluidTransport::Occupy(const FlowRequest& request, FlowPath path, Time now)
{
    CheckRequest(request);
    MoveTo(now);
    SelectedPath selected{path.path, path.unit, Time()};
    if (!path.path.IsValid())
    {
        selected = SelectPath(request, false);
    }
    const uint32_t t = NewFlow(request, selected);
    Flow& flow = m_flows[t];
    flow.client = nullptr;
    flow.bytes = int64_t{1} << 62; // never done
    flow.left = std::numeric_limits<double>::infinity();
    flow.isOccupant = true;
    flow.hasOwnPath = path.path.IsValid();
    const FlowId id{flow.id};
    Begin(t, DelayOf(request, selected));
    return id;
}

void
FluidTransport::SetOccupant(FlowId id, Rate cap, FlowPath path, Time now)
{
    MoveTo(now);
    const uint32_t t = Find(id);
    const Flow& flow = m_flows[t];
    const Bundle& bundle = m_bundles[flow.bundle];
    const FlowPath current{bundle.path, flow.unit};
    const FlowPath next = flow.hasOwnPath ? path : current;
    const double perUnit = cap.ToBytesPerSecond() / next.unit;
    if (!(next == current) || perUnit != bundle.cap)
    {
        const double weight = bundle.weight * flow.unit / next.unit;
        MoveToBundle(t, BundleFor(next.path, perUnit, weight), next.unit);
    }
}

FluidTransport::Shares
FluidTransport::SharesOf(LinkId link)
{
    Settle();
    Shares shares;
    double highest = 0; // of flows
    double ofOccupants = 0;
    m_solver.ForEachOn(link.Index(), [&](uint32_t b, double multiplicity) {
        const Bundle& bundle = m_bundles[b];
        const uint32_t flows = bundle.moving - bundle.occupants;
        const double weight = multiplicity * bundle.weight;
        shares.flowWeight += weight * flows;
        shares.occupantWeight += weight * bundle.occupants;
        if (flows > 0)
        {
            shares.flowRate += weight * flows * m_solver.Level(b);
            highest = std::max(highest, m_solver.Level(b));
        }
        if (bundle.occupants > 0)
        {
            ofOccupants = std::max(ofOccupants, m_solver.Level(b));
        }
    });
    shares.isGreedy = ofOccupants >= highest * (1 - 1e-9);
    return shares;
}

/** Those whose variables, or whose rates, the last solve has changed. */
void
FluidTransport::NoteChangedLinks()
{
    for (const uint32_t b : m_solver.MovedVariables())
    {
        for (const PathLink& each : m_paths.Links(m_bundles[b].path))
        {
            m_changedLinks.push_back(each.link.Index());
        }
    }
    const std::vector<uint32_t>& touched = m_solver.TouchedLinks();
    m_changedLinks.insert(m_changedLinks.end(), touched.begin(), touched.end());
}

const std::vector<uint32_t>&
FluidTransport::TakeChangedLinks()
{
    Settle();
    if (!m_notesChanges)
    {
        m_notesChanges = true;
        m_solver.KeepLoads(true);
        m_changedLinks.resize(m_groups.size()); // nobody has seen any of them
        std::iota(m_changedLinks.begin(), m_changedLinks.end(), 0);
    }
    std::sort(m_changedLinks.begin(), m_changedLinks.end());
    m_changedLinks.erase(std::unique(m_changedLinks.begin(), m_changedLinks.end()),
                         m_changedLinks.end());
    m_takenLinks.swap(m_changedLinks);
    m_changedLinks.clear();
    return m_takenLinks;
}

} // namespace weir
