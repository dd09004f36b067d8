// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/htsim-topology.h"

#include "scenarios/readers/located-lines.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

constexpr int64_t MAX_HTSIM_NODES = int64_t{1} << 20;
constexpr int64_t MAX_RADIX = 4096;
constexpr std::size_t MAX_TIERS = 3;

/** Switches of one tier, and the links below them. */
struct Tier
{
    std::optional<double> gbps;
    int64_t latency{0};       //!< ns
    int64_t switchLatency{0}; //!< ns
    int64_t down{0};
    int64_t up{0};
    int64_t bundle{1};
};

struct FatTreeFile
{
    int64_t nodes{0};
    int64_t podSize{0};
    int64_t tiers{0};
    std::array<Tier, MAX_TIERS> tier;
};

const std::vector<std::string> KEYS = SplitText(
    "nodes podsize tiers tier downlink_speed_gbps radix_down radix_up queue_down queue_up "
    "oversubscribed bundle switch_latency_ns downlink_latency_ns",
    ' ');

/** Reads the number on a line whose key is @p name. @return whether it is */
bool
Take(const LocatedLines& lines, const char* name, int64_t min, int64_t max, int64_t& value)
{
    const bool is = LowerCase(std::string(lines.Fields()[0])) == LowerCase(name);
    value = is ? lines.Whole(1, name, min, max) : value;
    return is;
}

void
ReadTierKey(const LocatedLines& lines, const std::string& key, Tier& tier)
{
    constexpr int64_t MAX_LATENCY = 1000000000;
    if (key == "downlink_speed_gbps")
    {
        tier.gbps = lines.Decimal(1, "Downlink_speed_Gbps");
        if (!(*tier.gbps > 0))
        {
            throw lines.Refusal("Downlink_speed_Gbps", lines.Fields()[1], "more than zero");
        }
    }
    Take(lines, "Downlink_Latency_ns", 0, MAX_LATENCY, tier.latency);
    Take(lines, "Switch_Latency_ns", 0, MAX_LATENCY, tier.switchLatency);
    Take(lines, "Radix_Down", 1, MAX_RADIX, tier.down);
    Take(lines, "Radix_Up", 1, MAX_RADIX, tier.up);
    Take(lines, "Bundle", 1, MAX_RADIX, tier.bundle);
}

FatTreeFile
ReadFile(LocatedLines& lines)
{
    FatTreeFile file;
    Tier* tier = nullptr;
    std::set<std::pair<const Tier*, std::string>> known;
    while (lines.NextAtSpaces())
    {
        const std::string key = LowerCase(std::string(lines.Fields()[0]));
        if (!IsAmong(key, KEYS))
        {
            throw lines.Refusal("key",
                                lines.Fields()[0],
                                "a key of htsim's topologies, such as Nodes or Radix_Down" +
                                    DidYouMean(key, KEYS));
        }
        if (lines.Fields().size() < 2)
        {
            throw lines.Error(key + ": found nothing, expected a value");
        }
        const bool isOfTier = key != "nodes" && key != "podsize" && key != "tiers";
        if (key != "tier" && !known.emplace(isOfTier ? tier : nullptr, key).second)
        {
            throw lines.Refusal(
                "key", lines.Fields()[0], "each key once, those of a tier once in each");
        }
        if (Take(lines, "Nodes", 1, MAX_HTSIM_NODES, file.nodes) ||
            Take(lines, "Podsize", 1, MAX_HTSIM_NODES, file.podSize) ||
            Take(lines, "Tiers", 2, MAX_TIERS, file.tiers))
        {
            continue;
        }
        if (key == "tier")
        {
            tier = &file.tier[static_cast<std::size_t>(lines.Whole(1, "Tier", 0, MAX_TIERS - 1))];
        }
        else if (tier == nullptr)
        {
            throw lines.Refusal("key", lines.Fields()[0], "the line Tier before it");
        }
        else
        {
            ReadTierKey(lines, key, *tier);
        }
    }
    return file;
}

/** The exact quotient. @throws InputError where there is none, or a value is not above zero. */
int64_t
Divided(const LocatedLines& lines, int64_t whole, int64_t part, const std::string& rule)
{
    if (part <= 0 || whole <= 0 || whole % part != 0)
    {
        throw lines.Error("found " + std::to_string(whole) + " and " + std::to_string(part) +
                          ", expected " + rule);
    }
    return whole / part;
}

/** Connects devices of adjacent tiers, by as many parallel links as a bundle has. */
class TreeBuilder
{
  public:
    TreeBuilder(Topology& topology, const FatTreeFile& file)
        : m_topology(topology),
          m_file(file)
    {
    }

    std::vector<DeviceId> Add(DeviceKind kind, const std::string& name, int64_t count)
    {
        std::vector<DeviceId> devices;
        for (int64_t i = 0; i < count; i++)
        {
            devices.push_back(m_topology.AddDevice(kind, name + std::to_string(i)));
        }
        return devices;
    }

    /** @param tier of the upper device; hosts are below tier 0 */
    void Join(DeviceId below, DeviceId above, std::size_t tier)
    {
        const Tier& upper = m_file.tier[tier];
        const Rate rate = Rate::Gbps(*upper.gbps);
        const int64_t delayBelow = tier == 0 ? 0 : m_file.tier[tier - 1].switchLatency;
        const auto latency = [&upper](int64_t delay) {
            return Time::Picoseconds((upper.latency + delay) * 1000);
        };
        for (int64_t i = 0; i < (tier == 0 ? 1 : upper.bundle); i++)
        {
            m_topology.AddDuplexLink(below,
                                     above,
                                     LinkKind::Network,
                                     rate,
                                     latency(upper.switchLatency),
                                     latency(delayBelow));
        }
    }

  private:
    Topology& m_topology;
    const FatTreeFile& m_file;
};

} // namespace

Topology
ReadHtsimTopology(const std::string& path)
{
    LocatedLines lines(path, "--topology");
    const FatTreeFile file = ReadFile(lines);
    for (std::size_t t = 0; t < static_cast<std::size_t>(std::max<int64_t>(file.tiers, 2)); t++)
    {
        if (!file.tier[t].gbps)
        {
            throw lines.Error("found no Downlink_speed_Gbps of tier " + std::to_string(t) +
                              ", expected one");
        }
    }
    const bool hasCore = file.tiers == 3;
    const int64_t podSize = hasCore ? file.podSize : file.nodes;
    const Tier& edge = file.tier[0];
    const Tier& middle = file.tier[1];
    const int64_t pods = Divided(lines, file.nodes, podSize, "Nodes to be a multiple of Podsize");
    const int64_t edges =
        Divided(lines, podSize, edge.down, "a pod's hosts to be a multiple of tier 0's Radix_Down");
    const int64_t middles = Divided(
        lines, edge.up, middle.bundle, "tier 0's Radix_Up to be a multiple of tier 1's Bundle");
    if (edges * middle.bundle > middle.down)
    {
        throw lines.Error("tier 1: found Radix_Down " + std::to_string(middle.down) +
                          ", expected at least " + std::to_string(edges * middle.bundle) +
                          ": the links of " + std::to_string(edges) + " switches of tier 0");
    }
    Topology topology;
    TreeBuilder tree(topology, file);
    const auto hosts = tree.Add(DeviceKind::Host, "host", file.nodes);
    const auto tors = tree.Add(DeviceKind::LeafSwitch, "tor", pods * edges);
    const auto aggregations =
        tree.Add(DeviceKind::SpineSwitch, hasCore ? "agg" : "spine", pods * middles);
    for (int64_t host = 0; host < file.nodes; host++)
    {
        tree.Join(hosts[host], tors[host / edge.down], 0);
    }
    for (int64_t tor = 0; tor < pods * edges; tor++)
    {
        for (int64_t i = 0; i < middles; i++)
        {
            tree.Join(tors[tor], aggregations[tor / edges * middles + i], 1);
        }
    }
    if (!hasCore)
    {
        return topology;
    }
    const Tier& core = file.tier[2];
    const int64_t perMiddle = Divided(
        lines, middle.up, core.bundle, "tier 1's Radix_Up to be a multiple of tier 2's Bundle");
    if (pods * core.bundle > core.down)
    {
        throw lines.Error("tier 2: found Radix_Down " + std::to_string(core.down) +
                          ", expected at least " + std::to_string(pods * core.bundle) +
                          ": the links of " + std::to_string(pods) + " pods");
    }
    const auto cores = tree.Add(DeviceKind::CoreSwitch, "core", middles * perMiddle);
    for (int64_t middleSwitch = 0; middleSwitch < pods * middles; middleSwitch++)
    {
        for (int64_t i = 0; i < perMiddle; i++)
        {
            tree.Join(aggregations[middleSwitch], cores[middleSwitch % middles * perMiddle + i], 2);
        }
    }
    return topology;
}

} // namespace weir
