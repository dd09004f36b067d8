// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/link-legend.h"

#include "scenarios/results/text-table.h"
#include "scenarios/topology/topology-style.h"

#include <algorithm>

namespace weir
{
namespace
{

// Pixels.
constexpr double ENTRY_HEIGHT = 22;
constexpr double SAMPLE = 46;

} // namespace

bool
IsFirstDirection(const Topology& topology, LinkId id)
{
    const LinkId opposite = topology.GetLink(id).opposite;
    return !opposite.IsValid() || id < opposite;
}

LinkLegend::LinkLegend(const Topology& topology)
{
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const bool isInside =
            topology.GetDevice(link.from).node == 0 && topology.GetDevice(link.to).node == 0;
        if (!IsFirstDirection(topology, LinkId(i)) || (link.kind != LinkKind::Network && !isInside))
        {
            continue;
        }
        const std::string& profile = topology.GetProfileName(link.profile);
        const auto same = std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& entry) {
            return entry.kind == link.kind && entry.profile == profile && entry.rate == link.rate &&
                   entry.latency == link.latency;
        });
        if (same != m_entries.end())
        {
            same->count++;
            continue;
        }
        m_entries.push_back({link.kind, profile, link.rate, link.latency, 1});
    }
    std::stable_sort(m_entries.begin(), m_entries.end(), [](const Entry& a, const Entry& b) {
        return a.kind < b.kind;
    });
}

bool
LinkLegend::IsUnusual(const Link& link) const
{
    std::size_t most = 0;
    std::size_t own = 0;
    for (const Entry& entry : m_entries)
    {
        if (entry.kind == link.kind)
        {
            most = std::max(most, entry.count);
            own = entry.rate == link.rate ? std::max(own, entry.count) : own;
        }
    }
    return own * 4 < most;
}

double
LinkLegend::Draw(SvgCanvas& canvas, double left, double y) const
{
    canvas.Text({left, y},
                "links of node0 and of the whole network; payload rate of one direction; width: "
                "its square root",
                11,
                "start",
                "#555555");
    double row = y;
    for (const Entry& entry : m_entries)
    {
        row += ENTRY_HEIGHT;
        canvas.Line(
            {left, row - 4}, {left + SAMPLE, row - 4}, LineWidth(entry.rate), ColorOf(entry.kind));
        canvas.Text({left + SAMPLE + 10, row},
                    std::to_string(entry.count) + " x " + ToString(entry.kind) + ", " +
                        entry.profile + ": " + RateWord(entry.rate) + ", " +
                        FormatFixed(entry.latency.ToMicroseconds() * 1e3, 0) + " ns",
                    12,
                    "start");
    }
    return row - y + MARGIN;
}

} // namespace weir
