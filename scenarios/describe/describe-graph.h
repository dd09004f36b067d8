// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_GRAPH_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_GRAPH_H

#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weir
{

/** What of a step graph is to be shown. */
struct GraphView
{
    uint32_t rank{0};
    std::optional<uint32_t> microBatch; //!< only operations of this one; all when not given
    bool kernels{false};                //!< the kernels of every compute operation too
};

/**
 * What one rank does in one step, in the order in which its framework issues it: a line an
 * operation, with its stream, layer, micro-batch, time or bytes, and what it waits for, so that it
 * can be compared with a framework's own log. An operation stands before the first that needs it.
 * Kernels come with shape, FLOPs and bytes (each operand once).
 * @throws std::invalid_argument when the graph has no such rank.
 */
std::string DescribeGraph(const StepGraph& graph, const GraphView& view);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_GRAPH_H
