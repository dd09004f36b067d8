// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_PROGRAM_CHECK_H
#define WEIR_COMPUTE_MODEL_GRAPH_PROGRAM_CHECK_H

#include "compute-model/graph/step-program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** What one program does on one slot, whatever the streams; equal for all members of a group. */
struct SlotUse
{
    uint64_t sends{0};
    uint64_t receives{0};
    uint64_t collectives{0};
    uint64_t sentSum{0};       //!< order-free hash of what is sent
    uint64_t receivedSum{0};   //!< ... received
    uint64_t collectiveSum{0}; //!< ... done collectively

    bool IsUsed() const
    {
        return sends + receives + collectives > 0;
    }
};

/** "compute operation 3 'forward MLP'". */
std::string DescribeOp(const StepGraph& graph,
                       std::size_t stream,
                       std::size_t position,
                       const StepOp& op);

/**
 * Checks what needs no rank: that labels, kernels and dependencies exist, that no operation waits
 * for itself or a later one of its stream, that durations and sizes are possible.
 * @return by slot, what the program does there.
 * @throws std::invalid_argument naming the program and the operation.
 */
std::vector<SlotUse> CheckProgram(const StepGraph& graph, std::size_t program);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_PROGRAM_CHECK_H
