// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/default-costs.h"

#include "fabric/topology/net-transport.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

using CostArray = std::array<NodeCost, NODE_COST_KINDS>;

void
Set(CostArray& costs, const NodeCost& cost)
{
    costs[static_cast<std::size_t>(NodeCostKindOf(cost.name))] = cost;
}

const char*
HostName(HostCpu cpu)
{
    return cpu == HostCpu::Intel ? "intel" : cpu == HostCpu::Amd ? "amd" : "arm";
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

/** The newest architecture that is not newer than such a GPU. */
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

/** With those of its bases, which come first. */
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

/** What a transport has that asks for nothing: what verbs do, which write into memory that the
 * receiver has named before. */
void
SetUnbounded(CostArray& costs)
{
    const char* verbs = "verbs write into memory that the receiver has named before";
    constexpr double ANY_SIZE = std::numeric_limits<int32_t>::max();
    Set(costs, {"messageInline", 0, verbs});
    Set(costs, {"messageEager", ANY_SIZE, verbs});
    Set(costs, {"messageRendezvous", 0, verbs});
    Set(costs, {"messageHandling", 0, verbs});
    Set(costs, {"treePortEfficiency", 1, "nothing was measured"});
    Set(costs,
        {"queuePairRate",
         std::numeric_limits<double>::infinity(),
         "inferred: rings over 100 and 200 Gb/s ports reach their ports' rate with one"});
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
                                       &Shipped("hosts", HostName(node.cpu)),
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

} // namespace weir
