// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-node-costs.h"
#include "scenarios/readers/yaml-keys.h"

#include <sstream>

namespace weir
{

namespace
{

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

NodeCost
ReadCost(const YamlNode& entry, const NodeCostFigure& figure)
{
    const YamlNode value = entry.Get("value");
    const YamlNode source = entry.Get("source");
    const NodeCost cost{figure.key, ValueOf(value, figure.unit), source.AsString()};
    constexpr double ROUNDING = 1e-9; // of a bound that is no binary number, as 0.4 us
    if (!(cost.value >= figure.least * (1 - ROUNDING) &&
          cost.value <= figure.most * (1 + ROUNDING)))
    {
        std::ostringstream bounds;
        bounds << figure.least << " to " << figure.most << " " << UnitName(figure.unit);
        value.Fail("found '" + value.AsString() + "', expected " + bounds.str());
    }
    if (cost.source.empty())
    {
        source.Fail("found an empty text, expected where the number comes from");
    }
    return cost;
}

/** Those that @p node has, in their order; @throws InputError for keys that are none. */
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
    constexpr double HERTZ_PER_GHZ = 1e9;
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
