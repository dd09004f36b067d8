// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/machine-parameter.h"

#include "collectives/nccl/node-costs.h"

#include <algorithm>
#include <cstdio>

namespace weir
{

namespace
{

// How far machines of one kind are from each other: standard deviations of logarithms. Estimates
// from the clusters of validation/nccl-*, whose NVLinks reach 0.87 to 0.93 of their payload, whose
// ports 0.92 to 0.98, whose calls take 4.2 to 7 us and whose messages take 0.4 to 12 us to fetch.
constexpr double EFFICIENCY_SPREAD = 0.1;
constexpr double LATENCY_SPREAD = 0.4;
constexpr double RATE_SPREAD = 0.4;
constexpr double GPU_COST_SPREAD = 0.4;
constexpr double HOST_COST_SPREAD = 1;

constexpr double MIN_EFFICIENCY = 0.2;
constexpr double MIN_LATENCY_US = 0.01;
constexpr double MAX_LATENCY_US = 20;
constexpr double MIN_RATE_GBPS = 1;
constexpr double MAX_RATE_GBPS = 1000;
constexpr double MIN_PART = 1e-3; // of a cost whose range begins at zero

void
AddLink(const std::string& name,
        const LinkProfile& profile,
        std::vector<MachineParameter>& parameters)
{
    parameters.push_back({name + ".measured",
                          NodeCostUnit::Factor,
                          profile.measured,
                          MIN_EFFICIENCY,
                          1,
                          EFFICIENCY_SPREAD,
                          profile.source});
    parameters.push_back({name + ".latency",
                          NodeCostUnit::Microseconds,
                          profile.latency.ToMicroseconds(),
                          MIN_LATENCY_US,
                          MAX_LATENCY_US,
                          LATENCY_SPREAD,
                          profile.source});
}

void
AddLinks(const NodeSpec& node, std::vector<MachineParameter>& parameters)
{
    if (node.wiring != NvLinkWiring::None)
    {
        AddLink("nvlink", node.nvlink, parameters);
    }
    AddLink("pcie", node.pcie, parameters);
    if (node.nics == 0)
    {
        return;
    }
    AddLink("nic", node.nic, parameters);
    if (node.nicHostBridge)
    {
        parameters.push_back({"nic.hostBridge.rate",
                              NodeCostUnit::GBps,
                              node.nicHostBridge->rawRate.ToGBps(),
                              MIN_RATE_GBPS,
                              MAX_RATE_GBPS,
                              RATE_SPREAD,
                              node.nicHostBridge->source});
    }
}

double
SpreadOf(NodeCostKind kind, NodeCostUnit unit)
{
    if (unit == NodeCostUnit::GBps)
    {
        return RATE_SPREAD;
    }
    if (unit == NodeCostUnit::Factor)
    {
        const bool isEfficiency = kind == NodeCostKind::NvlsEfficiency ||
                                  kind == NodeCostKind::CollNetEfficiency ||
                                  kind == NodeCostKind::TreePortEfficiency;
        return isEfficiency ? EFFICIENCY_SPREAD : GPU_COST_SPREAD;
    }
    return kind >= NodeCostKind::KernelLaunch ? HOST_COST_SPREAD : GPU_COST_SPREAD;
}

} // namespace

std::string
MachineParameter::Name() const
{
    const auto end = key.rfind(".value");
    return key.substr(0, end);
}

std::string
MachineParameter::SourceKey() const
{
    return key.substr(0, key.rfind('.')) + ".source";
}

std::vector<MachineParameter>
ParametersOf(const NodeSpec& node)
{
    std::vector<MachineParameter> parameters;
    AddLinks(node, parameters);
    const NodeCosts costs(node);
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        const NodeCost& cost = costs.Get(figure.kind);
        const bool isBounded = cost.value <= figure.most;
        if (figure.unit == NodeCostUnit::Bytes || !(cost.value > 0) || !isBounded)
        {
            continue;
        }
        parameters.push_back(
            {std::string("costs.") + figure.key + ".value",
             figure.unit,
             cost.value,
             std::max(figure.least, cost.value * MIN_PART), // zero has no logarithm
             figure.most,
             SpreadOf(figure.kind, figure.unit),
             cost.source});
    }
    return parameters;
}

std::string
ToYaml(NodeCostUnit unit, double value)
{
    std::string text = ToText(unit, value);
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    return text;
}

std::string
ToText(NodeCostUnit unit, double value)
{
    char text[40];
    const char* name = unit == NodeCostUnit::Microseconds ? " us"
                       : unit == NodeCostUnit::GBps       ? " GB/s"
                                                          : "";
    std::snprintf(text, sizeof text, "%.4g%s", value, name);
    return text;
}

} // namespace weir
