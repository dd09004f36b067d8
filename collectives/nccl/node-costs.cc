// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/node-costs.h"

#include "fabric/enum-names.h"
#include "fabric/topology/link-profile.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr EnumName<HostCpu> HOST_CPUS[]{
    {HostCpu::Intel, "intel"},
    {HostCpu::Amd, "amd"},
    {HostCpu::Arm, "arm"},
    {HostCpu::Power, "power"},
};

} // namespace

const char*
ToString(HostCpu cpu)
{
    return NameIn(HOST_CPUS, cpu);
}

const std::vector<NodeCostFigure>&
NodeCostFigures()
{
    using Kind = NodeCostKind;
    using Unit = NodeCostUnit;
    // Bounds: a tenth to ten times the observed range, rounded; 0 where the cost may be absent.
    static const std::vector<NodeCostFigure> figures{
        {Kind::LlCall, "llCall", Unit::Microseconds, 0.5, 50},
        {Kind::PcieEnd, "pcieEnd", Unit::Microseconds, 0, 50},
        {Kind::LlStep, "llStep", Unit::Microseconds, 0, 10},
        {Kind::LlPass, "llPass", Unit::Microseconds, 0, 10},
        {Kind::LlPcieStep, "llPcieStep", Unit::Microseconds, 0.1, 20},
        {Kind::SimplePcieStep, "simplePcieStep", Unit::Microseconds, 0.5, 100},
        {Kind::LlBlockRate, "llBlockRate", Unit::GBps, 0.3, 100},
        {Kind::Ll128BlockRate, "ll128BlockRate", Unit::GBps, 0.8, 200},
        {Kind::BlockFloor, "blockFloor", Unit::Factor, 0.1, 10},
        {Kind::BlockTime, "blockTime", Unit::Factor, 0.1, 10},
        {Kind::SendFloor, "sendFloor", Unit::Microseconds, 0.08, 25},
        {Kind::SendMebibyte, "sendMebibyte", Unit::Microseconds, 2, 500},
        {Kind::ReduceSendFloor, "reduceSendFloor", Unit::Microseconds, 0.08, 25},
        {Kind::ReduceSendMebibyte, "reduceSendMebibyte", Unit::Microseconds, 2, 500},
        {Kind::ReduceCopySendFloor, "reduceCopySendFloor", Unit::Microseconds, 0.08, 25},
        {Kind::ReduceCopySendMebibyte, "reduceCopySendMebibyte", Unit::Microseconds, 2, 500},
        {Kind::CopySendFloor, "copySendFloor", Unit::Microseconds, 0.08, 25},
        {Kind::CopySendMebibyte, "copySendMebibyte", Unit::Microseconds, 2, 500},
        {Kind::RecvFloor, "recvFloor", Unit::Microseconds, 0.08, 25},
        {Kind::RecvMebibyte, "recvMebibyte", Unit::Microseconds, 2, 500},
        {Kind::NvlsSync, "nvlsSync", Unit::Microseconds, 0.5, 50},
        {Kind::NvlsNetworkSync, "nvlsNetworkSync", Unit::Microseconds, 0, 100},
        {Kind::NvlsEfficiency, "nvlsEfficiency", Unit::Factor, 0.1, 2},
        {Kind::CollNetEfficiency, "collNetEfficiency", Unit::Factor, 0.1, 1},
        {Kind::KernelLaunch, "kernelLaunch", Unit::Microseconds, 0.4, 50},
        {Kind::BlockLaunch, "blockLaunch", Unit::Microseconds, 0, 20},
        {Kind::BlockLaunchSince19, "blockLaunchSince19", Unit::Microseconds, 0, 20},
        {Kind::IdleLaunch, "idleLaunch", Unit::Microseconds, 0, 300},
        {Kind::ProxyPost, "proxyPost", Unit::Microseconds, 0, 20},
        {Kind::ProxyPoll, "proxyPoll", Unit::Microseconds, 0, 0.1},
        {Kind::MessageInline, "messageInline", Unit::Bytes, 0, 4096},
        {Kind::MessageFetch, "messageFetch", Unit::Microseconds, 0, 500},
        {Kind::MessageEager, "messageEager", Unit::Bytes, 0, 1 << 30},
        {Kind::MessageRendezvous, "messageRendezvous", Unit::Microseconds, 0, 100},
        {Kind::MessageHandling, "messageHandling", Unit::Microseconds, 0, 100},
        {Kind::QueuePairRate, "queuePairRate", Unit::GBps, 0.1, 1000},
        {Kind::TreePortEfficiency, "treePortEfficiency", Unit::Factor, 0.1, 1},
    };
    return figures;
}

NodeCostKind
NodeCostKindOf(const std::string& key)
{
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        if (key == figure.key)
        {
            return figure.kind;
        }
    }
    throw std::invalid_argument("NodeCostKindOf: no cost is called '" + key + "'");
}

namespace
{

using CostArray = std::array<NodeCost, NODE_COST_KINDS>;

void
Set(CostArray& costs, const NodeCost& cost)
{
    costs[static_cast<std::size_t>(NodeCostKindOf(cost.name))] = cost;
}

const CostDescription&
Shipped(const std::string& folder, const std::string& name)
{
    const auto& all = ShippedCosts();
    const auto found = std::find_if(all.begin(), all.end(), [&](const CostDescription& one) {
        return one.folder == folder && one.name == name;
    });
    if (found == all.end())
    {
        throw std::logic_error("DefaultCosts: no " + folder + "/" + name);
    }
    return *found;
}

/** The newest architecture that is not newer than a GPU of @p computeCapability. */
const CostDescription&
ShippedArchitecture(uint32_t computeCapability)
{
    const CostDescription* found = nullptr;
    for (const CostDescription& one : ShippedCosts())
    {
        const bool isOld = !found || one.computeCapability <= computeCapability;
        if (one.folder == "architectures" && isOld)
        {
            found = &one;
        }
    }
    return *found;
}

/** The figures of a description, preceded by those of its bases. */
std::vector<CostFigure>
AllFigures(const CostDescription& description)
{
    std::vector<CostFigure> figures;
    if (!description.base.empty())
    {
        figures = AllFigures(Shipped(description.folder, description.base));
    }
    figures.insert(figures.end(), description.figures.begin(), description.figures.end());
    return figures;
}

double
ClockOf(const CostDescription& description)
{
    return description.clockGhz > 0 || description.base.empty()
               ? description.clockGhz
               : ClockOf(Shipped(description.folder, description.base));
}

/**
 * Defaults of a transport without message overheads, like verbs, which write into memory that the
 * receiver has announced before.
 */
void
SetUnbounded(CostArray& costs)
{
    const char* verbs = "verbs write into memory that the receiver has announced before";
    constexpr double ANY_SIZE = std::numeric_limits<int32_t>::max();
    Set(costs, {"messageInline", 0, verbs});
    Set(costs, {"messageEager", ANY_SIZE, verbs});
    Set(costs, {"messageRendezvous", 0, verbs});
    Set(costs, {"messageHandling", 0, verbs});
    Set(costs, {"treePortEfficiency", 1, "nothing was measured"});
    Set(costs,
        {"queuePairRate",
         std::numeric_limits<double>::infinity(),
         "inferred: rings over 100 and 200 Gb/s ports reach the ports' rate with one queue pair"});
}

} // namespace

std::vector<NodeCost>
CostsAt(const std::vector<CostFigure>& figures, double clockGhz, Rate port)
{
    std::vector<NodeCost> costs;
    for (const CostFigure& figure : figures)
    {
        NodeCost cost = figure.cost;
        if (figure.clockGhz > 0)
        {
            cost.value *= figure.clockGhz / clockGhz;
        }
        if (figure.portGBps > 0 && port.ToGBps() < figure.portGBps)
        {
            continue;
        }
        if (figure.portGBps > 0)
        {
            cost.value = cost.value * port.ToGBps() / figure.portGBps;
        }
        costs.push_back(cost);
    }
    return costs;
}

std::array<NodeCost, NODE_COST_KINDS>
DefaultCosts(const NodeSpec& node)
{
    CostArray costs;
    SetUnbounded(costs);
    const CostDescription& architecture = ShippedArchitecture(node.computeCapability);
    for (const CostDescription* one : {&architecture,
                                       &Shipped("hosts", ToString(node.cpu)),
                                       &Shipped("transports", TraitsOf(node.transport).name)})
    {
        for (const NodeCost& cost :
             CostsAt(AllFigures(*one), ClockOf(architecture), node.nic.rawRate))
        {
            Set(costs, cost);
        }
    }
    return costs;
}

NodeCosts::NodeCosts(const NodeSpec& node)
    : m_costs(DefaultCosts(node))
{
    for (const NodeCost& given : node.costs)
    {
        m_costs[static_cast<std::size_t>(NodeCostKindOf(given.name))] = given;
    }
}

double
NodeCosts::Value(NodeCostKind kind, NodeCostUnit unit) const
{
    const auto index = static_cast<std::size_t>(kind);
    if (NodeCostFigures()[index].unit != unit)
    {
        throw std::logic_error(std::string("NodeCosts: ") + NodeCostFigures()[index].key +
                               " is of another unit");
    }
    return m_costs[index].value;
}

Time
NodeCosts::TimeOf(NodeCostKind kind) const
{
    return Time::Microseconds(Value(kind, NodeCostUnit::Microseconds));
}

Rate
NodeCosts::RateOf(NodeCostKind kind) const
{
    return Rate::GBps(Value(kind, NodeCostUnit::GBps));
}

Bytes
NodeCosts::BytesOf(NodeCostKind kind) const
{
    return Bytes(static_cast<int64_t>(Value(kind, NodeCostUnit::Bytes)));
}

double
NodeCosts::FactorOf(NodeCostKind kind) const
{
    return Value(kind, NodeCostUnit::Factor);
}

} // namespace weir
