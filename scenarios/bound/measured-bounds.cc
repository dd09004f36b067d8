// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/measured-bounds.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

constexpr double LARGEST_SCORE = 100; //!< of ln(measured / estimate)

MeasuredBound
ReadInterval(const YamlNode& node, MeasuredBound bound)
{
    const auto items = node.Items();
    if (items.size() != 4)
    {
        node.Fail("expected [coverage, lower, upper, nested coverage]");
    }
    bound.coverage = items[0].AsNumber(0, 1);
    bound.lower = std::exp(items[1].AsNumber(-LARGEST_SCORE, LARGEST_SCORE));
    bound.upper = std::exp(items[2].AsNumber(-LARGEST_SCORE, LARGEST_SCORE));
    bound.nestedCoverage = items[3].AsNumber(0, 1);
    return bound;
}

MeasuredScope
ReadScope(const YamlNode& item)
{
    MeasuredScope scope;
    for (const YamlNode& op : item.Get("operations").Items())
    {
        scope.operations.push_back(op.AsEnum(ChoicesUpTo(LAST_COLLECTIVE_OP)));
    }
    for (const YamlNode& nodes : item.Get("nodes").Items())
    {
        scope.nodes.push_back(nodes.AsCount(1, 1 << 20));
    }
    std::sort(scope.nodes.begin(), scope.nodes.end());
    return scope;
}

bool
HasOperation(const MeasuredScope& scope, CollectiveOp op)
{
    return scope.operations.empty() ||
           std::find(scope.operations.begin(), scope.operations.end(), op) !=
               scope.operations.end();
}

bool
HasNodes(const MeasuredScope& scope, uint32_t nodes)
{
    const auto several = std::find_if(
        scope.nodes.begin(), scope.nodes.end(), [](uint32_t count) { return count > 1; });
    if (nodes == 1 || several == scope.nodes.end())
    {
        return scope.nodes.empty() || scope.nodes.front() == nodes;
    }
    return 2 * nodes >= *several && nodes <= 2 * scope.nodes.back();
}

} // namespace

std::string
ToText(const MeasuredBound& bound)
{
    return FormatText("within %+.0f and %+.0f %% (%g %%)",
                      100 * (bound.lower - 1),
                      100 * (bound.upper - 1),
                      100 * bound.coverage);
}

std::string
SizeClassOf(Bytes size)
{
    return size < Bytes::MiB(1)    ? "below 1 MiB"
           : size < Bytes::MiB(64) ? "1 to 64 MiB"
                                   : "from 64 MiB";
}

std::string
MeasuredClassOf(Bytes size, bool isOneNode)
{
    return std::string("collectives, ") + (isOneNode ? "one node, " : "several nodes, ") +
           SizeClassOf(size);
}

MeasuredBounds::MeasuredBounds(const Catalog& catalog, const std::string& nameOrPath)
{
    const YamlNode node = YamlNode::Load(catalog.Find(CatalogKind::Calibrations, nameOrPath));
    node.CheckKeys(YamlKeysOf("calibration (measured)"));
    Read(node.Get("classes"), "calibration (measured).classes", false);
}

MeasuredBounds::MeasuredBounds(const YamlNode& system, const Catalog& catalog)
    : MeasuredBounds(catalog)
{
    const bool isNcclTopology = system.IsScalar() && Catalog::IsPath(system.AsString()) &&
                                system.AsString().rfind(".xml") != std::string::npos;
    const auto bounds = isNcclTopology
                            ? std::nullopt
                            : ResolveBase(system, CatalogKind::Systems, catalog).Find("bounds");
    if (bounds)
    {
        m_classes.clear();
        m_owner = "this machine";
        Read(*bounds, "system.bounds", true);
    }
}

void
MeasuredBounds::Read(const YamlNode& classes, const char* keys, bool isOfMachine)
{
    for (const YamlNode& item : classes.Items())
    {
        item.CheckKeys(YamlKeysOf(keys));
        MeasuredBound bound;
        bound.name = item.Get("name").AsString();
        bound.sources = item.Get("sources").AsCount(1, 1000);
        if (isOfMachine)
        {
            bound.scope = ReadScope(item);
        }
        for (const YamlNode& interval : item.Get("intervals").Items())
        {
            m_classes[bound.name].push_back(ReadInterval(interval, bound));
        }
    }
}

std::optional<MeasuredBound>
MeasuredBounds::Find(const std::string& name, double coverage) const
{
    const auto found = m_classes.find(name);
    if (found != m_classes.end())
    {
        for (const MeasuredBound& bound : found->second)
        {
            if (bound.coverage == coverage)
            {
                return bound;
            }
        }
    }
    return std::nullopt;
}

std::optional<MeasuredBound>
MeasuredBounds::FindCollective(const MeasuredCall& call, double coverage) const
{
    for (const std::string& name :
         {MeasuredClassOf(call.size, call.nodes == 1), std::string(MEASURED_COLLECTIVES)})
    {
        auto bound = Find(name, coverage);
        if (bound && HasOperation(bound->scope, call.op) && HasNodes(bound->scope, call.nodes))
        {
            return bound;
        }
    }
    return std::nullopt;
}

std::string
MeasuredBounds::DescribeUnmeasured(const MeasuredCall& call, double coverage) const
{
    const auto all = Find(MEASURED_COLLECTIVES, coverage);
    if (!all || FindCollective(call, coverage))
    {
        return "";
    }
    if (!HasOperation(all->scope, call.op))
    {
        const auto names = Mapped<std::string>(all->scope.operations,
                                               [&](CollectiveOp op) { return ToString(op); });
        return std::string(ToString(call.op)) + ", measured: " + JoinNames(names);
    }
    const auto counts = Mapped<std::string>(all->scope.nodes,
                                            [&](uint32_t nodes) { return std::to_string(nodes); });
    return FormatNodes(call.nodes) + ", measured: " + JoinNames(counts);
}

} // namespace weir
