// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/graph-fabric.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/routing/routing-policies.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/topology/graphml.h"
#include "scenarios/topology/read-graph.h"
#include "scenarios/topology/slot-list.h"
#include "scenarios/topology/xml-element.h"
#include "scenarios/yaml/nearest-name.h"
#include "scenarios/yaml/quantity.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

namespace weir
{
namespace
{

constexpr int64_t MAX_COUNT = 1 << 20;

/** The data of an element by key. */
std::map<std::string, std::string>
AllDataOf(const XmlElement& element)
{
    std::map<std::string, std::string> data;
    for (const XmlElement& item : element.Children("data"))
    {
        data[item.Text("key")] = item.Content();
    }
    return data;
}

class Reader
{
  public:
    explicit Reader(const std::string& path)
        : m_root(XmlElement::Load(path, "graphml"))
    {
    }

    ClusterSpec Read(const std::string& path)
    {
        const auto graphs = m_root.Children("graph");
        if (graphs.empty())
        {
            m_root.Fail("", "found no graph in it, expected one");
        }
        const XmlElement& graph = graphs.front();
        ReadGraph(graph);
        for (const XmlElement& node : graph.Children("node"))
        {
            ReadDevice(node);
        }
        m_places.gpus.resize(m_spec.gpus);
        m_places.cards.resize(m_spec.NicCards());
        m_places.switches.resize(m_spec.pcieSwitches);
        for (const XmlElement& edge : graph.Children("edge"))
        {
            ReadEdge(edge);
        }
        CheckPlaces(graph);
        const bool onChip = m_places.gpus.front().link->name.find("c2c") != std::string::npos;
        SetPlaces(m_spec, m_places, onChip);
        ClusterSpec cluster;
        cluster.node = m_spec;
        ReadFabric(graph, path, cluster);
        return cluster;
    }

  private:
    struct End
    {
        DeviceKind kind{DeviceKind::Host};
        uint32_t index{0};
        int64_t node{-1};
        std::string name; //!< within its node
    };

    const std::string& Get(const XmlElement& element,
                           const std::map<std::string, std::string>& data,
                           const char* key) const
    {
        const auto found = data.find(key);
        if (found == data.end())
        {
            element.Fail("", "found no data '" + std::string(key) + "', expected one");
        }
        return found->second;
    }

    /** A whole number between bounds that 32 bits hold. */
    int64_t Whole(const XmlElement& element,
                  const std::map<std::string, std::string>& data,
                  const char* key,
                  int64_t least,
                  int64_t most) const
    {
        const double value =
            Number(element, data, key, static_cast<double>(least), static_cast<double>(most));
        if (value != std::floor(value))
        {
            element.Fail("",
                         "data '" + std::string(key) + "': found '" + Get(element, data, key) +
                             "', expected a whole number");
        }
        return static_cast<int64_t>(value);
    }

    /** The slot of device @p index among those of node 0. */
    static PciePlace& SlotOf(std::vector<PciePlace>& slots, uint32_t index, const XmlElement& edge)
    {
        if (index >= slots.size())
        {
            edge.Fail("",
                      "found an end with data 'index' " + std::to_string(index) +
                          ", expected less than " + std::to_string(slots.size()) +
                          ", the number of such devices of node 0");
        }
        return slots[index];
    }

    double Number(const XmlElement& element,
                  const std::map<std::string, std::string>& data,
                  const char* key,
                  double least,
                  double most) const
    {
        const std::string& text = Get(element, data, key);
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (text.empty() || *end != '\0' || !(value >= least && value <= most))
        {
            element.Fail("",
                         "data '" + std::string(key) + "': found '" + text +
                             "', expected a number from " + FormatNumber(least) + " to " +
                             FormatNumber(most));
        }
        return value;
    }

    template <typename E>
    E Choice(const XmlElement& element,
             const std::map<std::string, std::string>& data,
             const char* key,
             const NamedChoices<E>& choices) const
    {
        const std::string& text = Get(element, data, key);
        std::vector<std::string> names;
        for (const auto& [name, value] : choices)
        {
            if (text == name)
            {
                return value;
            }
            names.emplace_back(name);
        }
        element.Fail("",
                     "data '" + std::string(key) + "': found the unknown '" + text +
                         "', expected one of: " + JoinNames(names));
    }

    void ReadGraph(const XmlElement& graph)
    {
        const auto data = AllDataOf(graph);
        m_spec.gpuModel = Get(graph, data, "gpuModel");
        m_spec.computeCapability =
            static_cast<uint32_t>(Number(graph, data, "computeCapability", 60, 200));
        m_spec.cpu = Choice(graph, data, "cpu", HostCpuNames());
        m_spec.cpuModel = Get(graph, data, "cpuModel");
        m_spec.transport = Choice(graph, data, "transport", TransportNames());
        m_spec.portsPerNic =
            static_cast<uint32_t>(Number(graph, data, "portsPerNic", 1, MAX_COUNT));
        m_spec.socketsPerBoard =
            static_cast<uint32_t>(Number(graph, data, "socketsPerBoard", 0, MAX_COUNT));
        m_spec.gpus = m_spec.nics = m_spec.pcieSwitches = m_spec.sockets = 0;
        m_spec.wiring = NvLinkWiring::None;
        ReadCosts(graph, data);
    }

    void ReadCosts(const XmlElement& graph, const std::map<std::string, std::string>& data)
    {
        for (const NodeCostFigure& figure : NodeCostFigures())
        {
            const std::string key = CostKey(figure);
            if (data.count(key) > 0)
            {
                m_spec.costs.push_back({figure.key,
                                        Number(graph, data, key.c_str(), figure.least, figure.most),
                                        Get(graph, data, CostSourceKey(figure).c_str())});
            }
        }
    }

    Polymorphic<RoutingPolicy> ReadRouting(const XmlElement& graph,
                                           const std::map<std::string, std::string>& data) const
    {
        const RoutingPolicyRegistry policies = RoutingPolicies();
        const std::string& name = Get(graph, data, "routing");
        const Polymorphic<RoutingPolicy>* found = policies.Find(name);
        if (found == nullptr)
        {
            graph.Fail("",
                       "data 'routing': found the unknown '" + name +
                           "', expected one of: " + JoinNames(policies.Names()));
        }
        Polymorphic<RoutingPolicy> policy = *found;
        const auto parameters = data.find("routingParameters");
        if (parameters != data.end() && !parameters->second.empty())
        {
            ReadParameters(YamlNode::Parse(parameters->second, "routingParameters"), *policy);
        }
        return policy;
    }

    /** The network as a graph, if the file has one. */
    void ReadFabric(const XmlElement& graph, const std::string& path, ClusterSpec& cluster) const
    {
        const auto data = AllDataOf(graph);
        FabricSpec& fabric = cluster.fabric;
        fabric.kind = NoFabric();
        if (data.count("routing") == 0 || m_spec.nics == 0)
        {
            return;
        }
        GraphFabric network;
        network.graph = ReadGraphMlNetwork(path);
        network.graph.file = path;
        fabric.link = m_spec.nic;
        fabric.link.name = "graph";
        fabric.routing = ReadRouting(graph, data);
        if (!network.CanRoute(*fabric.routing))
        {
            fabric.routing = EcmpRouting();
        }
        fabric.hashSeed = static_cast<uint64_t>(Number(graph, data, "hashSeed", 0, 0x1p63));
        fabric.inNetworkReduction = Get(graph, data, "sharp") == "true";
        cluster.nodes = *network.NodesThatFill(m_spec);
        fabric.kind = std::move(network);
    }

    void ReadDevice(const XmlElement& element)
    {
        const auto data = AllDataOf(element);
        End end;
        const std::string id = element.Text("id");
        end.name = id.substr(id.find('/') + 1);
        end.node = Whole(element, data, "node", -1, MAX_COUNT);
        end.index = static_cast<uint32_t>(Whole(element, data, "index", 0, MAX_COUNT));
        const std::string& kind = Get(element, data, "device");
        for (const DeviceKind known : {DeviceKind::Gpu,
                                       DeviceKind::NvSwitch,
                                       DeviceKind::PcieSwitch,
                                       DeviceKind::RootComplex,
                                       DeviceKind::Nic})
        {
            end.kind = kind == ToString(known) ? known : end.kind;
        }
        if (!m_ends.emplace(id, end).second)
        {
            element.Fail("id", "found '" + id + "' again, expected each once");
        }
        if (end.node != 0)
        {
            return;
        }
        if (end.kind == DeviceKind::Nic)
        {
            m_spec.nic = ProfileOf(element);
        }
        m_spec.gpus += end.kind == DeviceKind::Gpu;
        m_spec.nics += end.kind == DeviceKind::Nic;
        m_spec.sockets += end.kind == DeviceKind::RootComplex;
        m_spec.pcieSwitches += IsSwitch(end);
    }

    /** A PCIe switch, not a card or host bridge, which are devices of that kind too. */
    static bool IsSwitch(const End& end)
    {
        return end.kind == DeviceKind::PcieSwitch && end.name.rfind("pcie", 0) == 0;
    }

    const End& EndOf(const XmlElement& edge, const char* attribute) const
    {
        const auto found = m_ends.find(edge.Text(attribute));
        if (found == m_ends.end())
        {
            edge.Fail(attribute,
                      "found '" + edge.Text(attribute) +
                          "', expected the id of a node of the graph");
        }
        return found->second;
    }

    LinkProfile ProfileOf(const XmlElement& element) const
    {
        constexpr double MAX_GBPS = 1e6;
        const auto data = AllDataOf(element);
        LinkProfile profile;
        profile.name = Get(element, data, "profile");
        // To a byte per second: what products with 1e9 add would make another rate of it.
        const auto rate = [&](const char* key, double least) {
            return Rate::BytesPerSecond(
                std::round(Number(element, data, key, least, MAX_GBPS) * 1e9));
        };
        profile.rawRate = rate("rawGBps", 1e-6);
        profile.encoding = Number(element, data, "encoding", 1e-6, 1);
        profile.framing = Number(element, data, "framing", 1e-6, 1);
        profile.measured = Number(element, data, "measured", 1e-6, 1);
        profile.ncclRate = rate("ncclGBps", 0);
        profile.latency = Time::Nanoseconds(Number(element, data, "latencyNs", 0, 1e12));
        profile.source = Get(element, data, "source");
        return profile;
    }

    void ReadEdge(const XmlElement& edge)
    {
        const End& from = EndOf(edge, "source");
        const End& to = EndOf(edge, "target");
        if (from.node != 0 || to.node != 0)
        {
            return;
        }
        if (from.kind == DeviceKind::Gpu &&
            (to.kind == DeviceKind::Gpu || to.kind == DeviceKind::NvSwitch))
        {
            ReadNvLink(edge, from, to);
        }
        else if (from.kind == DeviceKind::RootComplex && to.kind == DeviceKind::RootComplex)
        {
            m_spec.interSocket = ProfileOf(edge);
        }
        else if (to.kind == DeviceKind::PcieSwitch || to.kind == DeviceKind::RootComplex)
        {
            ReadSlot(edge, from, to);
        }
    }

    void ReadNvLink(const XmlElement& edge, const End& from, const End& to)
    {
        const auto links =
            static_cast<uint32_t>(Number(edge, AllDataOf(edge), "links", 1, MAX_COUNT));
        m_spec.nvlink = ProfileOf(edge);
        if (to.kind == DeviceKind::NvSwitch)
        {
            m_spec.wiring = NvLinkWiring::Switched;
            m_spec.nvlinksPerGpu = links;
            return;
        }
        m_spec.wiring = NvLinkWiring::Mesh;
        if (from.index < to.index)
        {
            m_spec.meshLinks.push_back({from.index, to.index, links});
        }
    }

    void ReadSlot(const XmlElement& edge, const End& from, const End& to)
    {
        const bool isCard = from.name.rfind("card", 0) == 0;
        if (from.name.rfind("bridge", 0) == 0)
        {
            if (to.name.rfind("bridge", 0) == 0)
            {
                m_spec.nicHostBridge = ProfileOf(edge);
            }
            return;
        }
        if (to.name.rfind("bridge", 0) == 0)
        {
            PciePlace& place = SlotOf(m_places.cards, to.index, edge);
            if (from.kind == DeviceKind::RootComplex)
            {
                place.parent = PcieParent::Socket;
                place.index = from.index;
            }
            else
            {
                place.link = ProfileOf(edge);
            }
            return;
        }
        const bool toSwitch = IsSwitch(to);
        if (to.name.rfind("card", 0) == 0 || (to.kind == DeviceKind::PcieSwitch && !toSwitch))
        {
            return; // within a card
        }
        const PciePlace place{
            toSwitch ? PcieParent::Switch : PcieParent::Socket, to.index, std::nullopt};
        PciePlace* slot = nullptr;
        if (from.kind == DeviceKind::Gpu)
        {
            slot = &SlotOf(m_places.gpus, from.index, edge);
        }
        else if (from.kind == DeviceKind::Nic || isCard)
        {
            slot = &SlotOf(m_places.cards, from.index, edge);
        }
        else if (IsSwitch(from) && (!toSwitch || to.index < from.index))
        {
            slot = &SlotOf(m_places.switches, from.index, edge);
        }
        if (slot)
        {
            *slot = place;
            slot->link = ProfileOf(edge);
        }
    }

    void CheckPlaces(const XmlElement& graph) const
    {
        for (const auto& [what, places] : {std::pair{"gpu", &m_places.gpus},
                                           std::pair{"nic", &m_places.cards},
                                           std::pair{"pcie", &m_places.switches}})
        {
            for (std::size_t i = 0; i < places->size(); i++)
            {
                if (!(*places)[i].link)
                {
                    graph.Fail("",
                               "found no PCIe edge from node0/" + std::string(what) +
                                   std::to_string(i) + ", expected one");
                }
            }
        }
        if (m_spec.gpus == 0 || m_spec.sockets == 0)
        {
            graph.Fail("", "found no GPUs or no sockets in node 0, expected some");
        }
    }

    XmlElement m_root;
    NodeSpec m_spec;
    NodePlaces m_places;
    std::map<std::string, End> m_ends; //!< by id
};

} // namespace

ClusterSpec
ReadGraphMl(const std::string& path)
{
    return Reader(path).Read(path);
}

} // namespace weir
