// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/topology-style.h"

#include "scenarios/results/text-table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace weir
{
namespace
{

// Pixels.
constexpr double ENTRY_HEIGHT = 22;
constexpr double SAMPLE = 46;

constexpr double WIDTH_OF_ONE = 0.45; //!< line width of 1 GB/s in pixels

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
LinkLegend::IsAtypical(const Link& link) const
{
    std::size_t max = 0;
    std::size_t own = 0;
    for (const Entry& entry : m_entries)
    {
        if (entry.kind == link.kind)
        {
            max = std::max(max, entry.count);
            own = entry.rate == link.rate ? std::max(own, entry.count) : own;
        }
    }
    return own * 4 < max;
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
                        entry.profile + ": " + RateLabel(entry.rate) + ", " +
                        FormatFixed(entry.latency.ToMicroseconds() * 1e3, 0) + " ns",
                    12,
                    "start");
    }
    return row - y + MARGIN;
}

const char*
ColorOf(LinkKind kind)
{
    switch (kind)
    {
    case LinkKind::NvLink:
        return "#2f9e44";
    case LinkKind::Pcie:
        return "#2f6db5";
    case LinkKind::InterSocket:
        return "#8e44ad";
    case LinkKind::Network:
        break;
    }
    return "#d9822b";
}

const char*
FillOf(DeviceKind kind)
{
    switch (kind)
    {
    case DeviceKind::Gpu:
        return "#c8e6c9";
    case DeviceKind::NvSwitch:
        return "#a5d6a7";
    case DeviceKind::PcieSwitch:
        return "#bbdefb";
    case DeviceKind::RootComplex:
        return "#d7c4e8";
    case DeviceKind::Nic:
        return "#ffe0b2";
    default:
        return "#ffcc80";
    }
}

double
LineWidth(Rate rate)
{
    return std::max(0.7, WIDTH_OF_ONE * std::sqrt(rate.ToGBps()));
}

std::string
GpuLabel(const std::string& gpuModel)
{
    return gpuModel.find('/') == std::string::npos
               ? gpuModel
               : std::filesystem::path(gpuModel).stem().string();
}

std::string
RateLabel(Rate rate)
{
    return FormatFixed(rate.ToGBps(), 1) + " GB/s";
}

} // namespace weir
