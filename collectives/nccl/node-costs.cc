// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/node-costs.h"

#include "collectives/nccl/default-costs.h"

#include <stdexcept>

namespace weir
{

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
