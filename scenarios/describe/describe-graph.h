// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_GRAPH_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_GRAPH_H

#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weir
{

struct GraphView
{
    uint32_t rank{0};
    std::optional<uint32_t> microBatch; //!< restricts operations to this one
    bool kernels{false};                //!< prints the kernels of every compute operation
};

/**
 * Describes the operations of one rank in one step for comparison with a framework's own log: one
 * line per operation, with its stream, layer, micro-batch, time or bytes, and dependencies. An
 * operation is listed before the first one that needs it. Kernels are listed with shape, FLOPs and
 * bytes (each operand once).
 * @throws std::invalid_argument when the graph has no such rank.
 */
std::string DescribeGraph(const StepGraph& graph, const GraphView& view);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_GRAPH_H
