// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NODE_COSTS_H
#define WEIR_COLLECTIVES_NCCL_NODE_COSTS_H

#include "collectives/nccl/node-cost.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <array>

namespace weir
{

/**
 * All figures of a node's NodeCostKinds: what its description gives, else what holds for its GPUs'
 * architecture, its hosts' processors, its transport and the speed of its ports.
 */
class NodeCosts
{
  public:
    explicit NodeCosts(const NodeSpec& node);

    /** Each throws std::logic_error for a kind of another unit. */
    Time TimeOf(NodeCostKind kind) const;
    Rate RateOf(NodeCostKind kind) const;
    Bytes BytesOf(NodeCostKind kind) const;
    double FactorOf(NodeCostKind kind) const;

    /** A figure as it is, with what it comes from. */
    const NodeCost& Get(NodeCostKind kind) const
    {
        return m_costs[static_cast<std::size_t>(kind)];
    }

  private:
    double Value(NodeCostKind kind, NodeCostUnit unit) const;

    std::array<NodeCost, NODE_COST_KINDS> m_costs; //!< by kind
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NODE_COSTS_H
