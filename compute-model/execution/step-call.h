// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALL_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALL_H

#include "collectives/collective.h"
#include "collectives/planner.h"
#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <tuple>
#include <vector>

namespace weir
{

/** What a program asks of a group, a send/recv pair included: as StepOp has it. */
struct SlotAsk
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Bytes bytes;
    uint16_t root{0};
    uint16_t traffic{StepOp::EVEN};
    uint16_t streams{0}; //!< bits of the streams that it is issued on; no part of what is asked

    friend bool operator<(const SlotAsk& a, const SlotAsk& b)
    {
        return std::tie(a.op, a.bytes, a.root, a.traffic) <
               std::tie(b.op, b.bytes, b.root, b.traffic);
    }
};

/** By slot: what @p program asks of its group there, each once, in ascending order. */
std::vector<std::vector<SlotAsk>> AsksOf(const StepProgram& program);

/** What the engine is asked for. @param traffics by index into StepGraph::traffics. */
CollectiveCall CallOf(const SlotAsk& ask,
                      CommunicatorId communicator,
                      const std::vector<TrafficId>& traffics);

/**
 * What @p op asks of @p communicator.
 * @param traffics by index into StepGraph::traffics, as AddTraffics gives them.
 */
CollectiveCall CallOf(const StepOp& op,
                      CommunicatorId communicator,
                      const std::vector<TrafficId>& traffics);

/** Makes the unequal parts of @p graph known to @p planner; by index into StepGraph::traffics. */
std::vector<TrafficId> AddTraffics(const StepGraph& graph, Planner& planner);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALL_H
