// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/read-graph.h"

#include "fabric/topology/topology.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/topology/graphml.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/text-file.h"
#include "scenarios/yaml/yaml-node.h"

#include <map>
#include <optional>

namespace weir
{
namespace
{

constexpr int64_t MAX_VERTICES = 1 << 24;
constexpr int64_t MAX_PARALLEL = 1 << 12;

double
EfficiencyOf(const LinkProfile& profile)
{
    return profile.encoding * profile.framing * profile.measured;
}

class YamlGraph
{
  public:
    YamlGraph(const std::string& path, double efficiency)
        : m_root(YamlNode::Load(path)),
          m_efficiency(efficiency)
    {
    }

    NetworkGraph Read()
    {
        m_root.CheckKeys(YamlKeysOf("graph"));
        ReadSource(m_root);
        AddVertices("hosts", "host", true);
        AddVertices("switches", "switch", false);
        const std::string expected = "links between hosts and switches";
        for (const YamlNode& item : m_root.Get("links").ItemsOf(expected))
        {
            ReadWire(item);
        }
        return std::move(m_graph);
    }

  private:
    void AddVertex(const YamlNode& node, const std::string& name, bool isHost)
    {
        if (!m_byName.emplace(name, m_graph.vertices.size()).second)
        {
            node.Fail("found '" + name + "' again, expected names that differ");
        }
        m_graph.vertices.push_back({name, isHost});
        m_names.push_back(name);
    }

    void AddVertices(const char* key, const char* prefix, bool isHost)
    {
        const YamlNode list = m_root.Get(key);
        if (list.IsScalar())
        {
            const int64_t count = list.AsInteger(isHost ? 1 : 0, MAX_VERTICES);
            for (int64_t i = 0; i < count; i++)
            {
                AddVertex(list, prefix + std::to_string(i), isHost);
            }
            return;
        }
        for (const YamlNode& item : list.Items())
        {
            AddVertex(item, item.AsString(), isHost);
        }
    }

    uint32_t Find(const YamlNode& node) const
    {
        const std::string name = node.AsString();
        const auto found = m_byName.find(name);
        if (found == m_byName.end())
        {
            node.Fail("found '" + name + "', expected a host or switch of the graph" +
                      DidYouMean(name, m_names));
        }
        return static_cast<uint32_t>(found->second);
    }

    void ReadWire(const YamlNode& item)
    {
        std::optional<YamlNode> rate;
        std::optional<YamlNode> latency;
        std::vector<YamlNode> ends;
        int64_t count = 1;
        if (item.IsMap())
        {
            item.CheckKeys(YamlKeysOf("graph.links"));
            ends = item.Get("between").Items();
            rate = item.Find("rate");
            latency = item.Find("latency");
            count = item.Has("count") ? item.Get("count").AsInteger(1, MAX_PARALLEL) : 1;
        }
        else
        {
            const auto parts = item.Items();
            if (parts.size() != 2 && parts.size() != 4)
            {
                item.Fail("found " + std::to_string(parts.size()) +
                          " items, expected [a, b] or [a, b, RATE, LATENCY]");
            }
            ends.assign(parts.begin(), parts.begin() + 2);
            if (parts.size() == 4)
            {
                rate = parts[2];
                latency = parts[3];
            }
        }
        if (ends.size() != 2)
        {
            item.Fail("found " + std::to_string(ends.size()) + " ends, expected two");
        }
        GraphWire wire;
        wire.a = Find(ends[0]);
        wire.b = Find(ends[1]);
        if (wire.a == wire.b)
        {
            ends[1].Fail("found '" + ends[1].AsString() + "' at both ends, expected two of them");
        }
        wire.rate = (rate ? *rate : m_root.Get("rate")).AsRateAboveZero() * m_efficiency;
        wire.latency = (latency ? *latency : m_root.Get("latency")).AsTime();
        m_graph.wires.insert(m_graph.wires.end(), static_cast<std::size_t>(count), wire);
    }

    YamlNode m_root;
    double m_efficiency;
    NetworkGraph m_graph;
    std::map<std::string, std::size_t> m_byName;
    std::vector<std::string> m_names;
};

NetworkGraph
ReadHpccGraph(const std::string& path, double efficiency)
{
    const Topology topology = ReadHpccTopology(path);
    NetworkGraph graph;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        graph.vertices.push_back({device.name, device.kind == DeviceKind::Host});
    }
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (LinkId(i) < link.opposite)
        {
            graph.wires.push_back(
                {link.from.Index(), link.to.Index(), link.rate * efficiency, link.latency});
        }
    }
    return graph;
}

} // namespace

bool
IsGraph(const std::string& path)
{
    if (!IsYamlFile(path))
    {
        return IsGraphMlFile(path);
    }
    const YamlNode root = YamlNode::Load(path);
    return root.IsMap() && root.Has("hosts");
}

NetworkGraph
ReadGraph(const std::string& path, const LinkProfile& profile)
{
    NetworkGraph graph;
    if (IsYamlFile(path))
    {
        graph = YamlGraph(path, EfficiencyOf(profile)).Read();
    }
    else if (IsGraphMlFile(path))
    {
        graph = ReadGraphMlNetwork(path);
    }
    else
    {
        graph = ReadHpccGraph(path, EfficiencyOf(profile));
    }
    graph.file = path;
    return graph;
}

} // namespace weir
