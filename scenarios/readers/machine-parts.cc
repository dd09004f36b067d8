// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/machine-parts.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"

#include <cmath>
#include <sstream>

namespace weir
{
namespace
{

constexpr double HERTZ_PER_GHZ = 1e9;
constexpr double MIN_PORT_EFFICIENCY = 0.01;
constexpr int64_t MAX_CPU_ID = 1 << 16;
constexpr int64_t MIN_PAYLOAD = 64;   // bytes of a PCIe packet
constexpr int64_t MAX_PAYLOAD = 4096; // PCI Express Base Specification 6.0, section 7.5.3.4

YamlNode
ResolvePart(const YamlNode& reference, CatalogKind kind, const Catalog& catalog, const char* keys)
{
    const YamlNode node = ResolveBase(reference, kind, catalog);
    node.CheckKeys(YamlKeysOf(keys));
    return node;
}

double
ValueOf(const YamlNode& node, NodeCostUnit unit)
{
    switch (unit)
    {
    case NodeCostUnit::Microseconds:
        return node.AsTime().ToMicroseconds();
    case NodeCostUnit::GBps:
        return node.AsRate().ToGBps();
    case NodeCostUnit::Bytes:
        return node.AsBytes().ToDouble();
    case NodeCostUnit::Factor:
        break;
    }
    return node.AsNumber(0, 1e9);
}

SocketRate
ReadSocketRate(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("host.sockets.rates"));
    return {node.Get("family").AsCount(0, MAX_CPU_ID),
            node.Get("model").AsCount(0, MAX_CPU_ID),
            node.Get("rate").AsRate()};
}

NodeCost
ReadCost(const YamlNode& entry, const NodeCostFigure& figure)
{
    const YamlNode value = entry.Get("value");
    const YamlNode source = entry.Get("source");
    const NodeCost cost{figure.key, ValueOf(value, figure.unit), source.AsString()};
    constexpr double ROUNDING = 1e-9; // relative; bounds such as 0.4 us are not exact in binary
    if (!(cost.value >= figure.min * (1 - ROUNDING) && cost.value <= figure.max * (1 + ROUNDING)))
    {
        std::ostringstream bounds;
        bounds << figure.min << " to " << figure.max << " " << UnitName(figure.unit);
        value.FailExpected(bounds.str());
    }
    if (cost.source.empty())
    {
        source.Fail("found an empty text, expected the source of the value");
    }
    return cost;
}

/** The figures that @p node gives, in the order of the list. @throws InputError at unknown keys. */
std::vector<NodeCostFigure>
FiguresIn(const YamlNode& node)
{
    std::vector<std::string> names;
    std::vector<NodeCostFigure> found;
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        names.emplace_back(figure.key);
        if (node.Has(figure.key))
        {
            found.push_back(figure);
        }
    }
    node.CheckKeys(names);
    return found;
}

} // namespace

ArchitectureFigures
ReadArchitecture(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node =
        ResolvePart(reference, CatalogKind::Architectures, catalog, "architecture");
    ArchitectureFigures read;
    read.computeCapability = node.Get("computeCapability").AsCount(60, 200);
    read.clockGhz = ReadSourced(node.Get("clock")).AsHertz() / HERTZ_PER_GHZ;
    read.l1 = ReadSourced(node.Get("l1")).AsBytes();
    const YamlNode nvlink = node.Get("nvlink");
    nvlink.CheckKeys(YamlKeysOf("architecture.nvlink"));
    read.nvlinkRate = nvlink.Get("rate").AsRate();
    read.nvlinkHeaderFlits = nvlink.Get("headerFlits").AsCount(1, 16);
    read.nvlinkNcclRate = nvlink.Get("ncclRate").AsRate();
    const YamlNode latency = node.Get("latency");
    latency.CheckKeys(YamlKeysOf("architecture.latency"));
    ReadSource(latency);
    read.nvlinkLatency = latency.Get("nvlink").AsTime();
    read.nvswitchLatency = latency.Get("nvswitch").AsTime();
    read.chipToChipLatency = latency.Get("chipToChip").AsTime();
    read.nvlink = {nvlink.Get("measured").AsNumber(MIN_PORT_EFFICIENCY, 1), ReadSource(nvlink)};
    node.Read("costs", read.costs, ReadCostFigures);
    return read;
}

HostFigures
ReadHost(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolvePart(reference, CatalogKind::Hosts, catalog, "host");
    HostFigures read;
    read.vendor = node.Get("vendor").AsEnum(HostCpuNames());
    const YamlNode sockets = node.Get("sockets");
    sockets.CheckKeys(YamlKeysOf("host.sockets"));
    read.sockets.name = "sockets";
    read.sockets.latency = sockets.Get("latency").AsTime();
    read.sockets.source = ReadSource(sockets);
    read.socketRates = sockets.Get("rates").EachOf("at least one processor", ReadSocketRate);
    const YamlNode pcie = node.Get("pcie");
    pcie.CheckKeys(YamlKeysOf("host.pcie"));
    read.pcie.framing = PcieFraming(pcie.Get("maxPayload").AsCount(MIN_PAYLOAD, MAX_PAYLOAD));
    read.pcie.measured = pcie.Get("measured").AsNumber(MIN_PORT_EFFICIENCY, 1);
    read.pcie.latency = pcie.Get("latency").AsTime();
    read.pcie.source = ReadSource(pcie);
    if (const auto bridge = node.Find("hostBridge"))
    {
        bridge->CheckKeys(YamlKeysOf("host.hostBridge"));
        read.hostBridge.emplace();
        read.hostBridge->name = "host-bridge";
        read.hostBridge->rawRate = bridge->Get("rate").AsRateAboveZero();
        read.hostBridge->source = ReadSource(*bridge);
    }
    node.Read("costs", read.costs, ReadCostFigures);
    return read;
}

uint32_t
ReadPowerOfTwo(const YamlNode& node, uint32_t min, uint32_t max)
{
    const std::string text = node.AsString();
    std::vector<std::string> names;
    for (uint32_t power = min; power <= max; power *= 2)
    {
        names.push_back(std::to_string(power));
        if (text == names.back())
        {
            return power;
        }
    }
    node.FailChoice(names);
}

uint32_t
ReadMtu(const YamlNode& node, const NetTransportTraits& transport)
{
    return transport.isRdma ? ReadPowerOfTwo(node, 256, 4096)
                            : node.AsCount(transport.minMtu, transport.maxMtu);
}

TransportFigures
ReadTransport(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolvePart(reference, CatalogKind::Transports, catalog, "transport");
    TransportFigures read;
    read.kind = node.Get("kind").AsEnum(TransportNames());
    read.devices = node.Get("devices").EachOf("at least one name", &YamlNode::AsString);
    const NetTransportTraits& traits = TraitsOf(read.kind);
    read.mtu = ReadMtu(ReadSourced(node.Get("mtu")), traits);
    read.latency = ReadSourced(node.Get("latency")).AsTime();
    read.latencySource = ReadSource(node.Get("latency"));
    read.port = {ReadSourced(node.Get("measured")).AsNumber(MIN_PORT_EFFICIENCY, 1),
                 ReadSource(node.Get("measured"))};
    node.Read("costs", read.costs, ReadCostFigures);
    return read;
}

ArchitectureFigures
ArchitectureOf(uint32_t computeCapability, const Catalog& catalog)
{
    std::optional<ArchitectureFigures> best;
    for (const std::string& name : catalog.Names(CatalogKind::Architectures))
    {
        const ArchitectureFigures one =
            ReadArchitecture(YamlNode::ParseArgument(name, "architecture"), catalog);
        const bool isOld = one.computeCapability <= computeCapability;
        const bool isBetter = !best || (isOld ? best->computeCapability > computeCapability ||
                                                    best->computeCapability < one.computeCapability
                                              : best->computeCapability > one.computeCapability);
        if (isBetter)
        {
            best = one;
        }
    }
    if (!best)
    {
        throw InputError("found no architecture in the catalog, expected at least one");
    }
    return *best;
}

LinkProfile
NvLinkOf(const ArchitectureFigures& architecture, bool isSwitched)
{
    LinkProfile link;
    link.name = "nvlink";
    link.latency = isSwitched ? architecture.nvswitchLatency : architecture.nvlinkLatency;
    link.rawRate = architecture.nvlinkRate;
    link.framing = NvLinkFraming(architecture.nvlinkHeaderFlits);
    link.measured = architecture.nvlinkNcclRate.ToGBps() / (link.rawRate * link.framing).ToGBps();
    link.source =
        "NVIDIA's white paper of the generation; measured: NCCL 2.30.7 topo.h's rate of a "
        "link; latency: estimate";
    return link;
}

HostFigures
HostOf(HostCpu cpu, const Catalog& catalog)
{
    return ReadHost(YamlNode::ParseArgument(NameOf(HostCpuNames(), cpu), "host"), catalog);
}

TransportFigures
TransportOf(NetTransport transport, const Catalog& catalog)
{
    return ReadTransport(YamlNode::ParseArgument(NameOf(TransportNames(), transport), "transport"),
                         catalog);
}

std::vector<NodeCost>
OwnCosts(const ArchitectureFigures& architecture,
         const HostFigures& host,
         const TransportFigures& transport,
         const NodeSpec& node)
{
    constexpr double ROUNDING = 1e-9; // relative, of values read in other units
    const auto defaults = DefaultCosts(node);
    std::vector<NodeCost> own;
    for (const auto& figures : {architecture.costs, host.costs, transport.costs})
    {
        for (const NodeCost& cost : CostsAt(figures, architecture.clockGhz, node.nic.rawRate))
        {
            const double known =
                defaults[static_cast<std::size_t>(NodeCostKindOf(cost.name))].value;
            if (!(std::abs(cost.value - known) <= ROUNDING * known))
            {
                own.push_back(cost);
            }
        }
    }
    return own;
}

std::vector<NodeCost>
OwnCosts(const NodeSpec& node, const Catalog& catalog)
{
    return OwnCosts(ArchitectureOf(node.computeCapability, catalog),
                    HostOf(node.cpu, catalog),
                    TransportOf(node.transport, catalog),
                    node);
}

const char*
UnitName(NodeCostUnit unit)
{
    switch (unit)
    {
    case NodeCostUnit::Microseconds:
        return "us";
    case NodeCostUnit::GBps:
        return "GB/s";
    case NodeCostUnit::Bytes:
        return "B";
    case NodeCostUnit::Factor:
        break;
    }
    return "";
}

std::vector<NodeCost>
ReadNodeCosts(const YamlNode& node)
{
    std::vector<NodeCost> costs;
    for (const NodeCostFigure& figure : FiguresIn(node))
    {
        const YamlNode entry = node.Get(figure.key);
        entry.CheckKeys(YamlKeysOf("sourced"));
        costs.push_back(ReadCost(entry, figure));
    }
    return costs;
}

std::vector<CostFigure>
ReadCostFigures(const YamlNode& node)
{
    std::vector<CostFigure> figures;
    for (const NodeCostFigure& figure : FiguresIn(node))
    {
        const YamlNode entry = node.Get(figure.key);
        entry.CheckKeys(YamlKeysOf("part.costs"));
        CostFigure read{ReadCost(entry, figure)};
        if (const auto clock = entry.Find("clock"))
        {
            read.clockGhz = clock->AsHertz() / HERTZ_PER_GHZ;
        }
        if (const auto port = entry.Find("port"))
        {
            read.portGBps = port->AsRate().ToGBps();
        }
        figures.push_back(read);
    }
    return figures;
}

} // namespace weir
