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

/** A call of a program on a group, with the fields of StepOp; a send/recv pair is one call. */
struct SlotCall
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Bytes bytes;
    uint16_t root{0};
    uint16_t traffic{StepOp::EVEN};
    uint16_t streams{0}; //!< bits of the streams on which it is issued; not compared

    friend bool operator<(const SlotCall& a, const SlotCall& b)
    {
        return std::tie(a.op, a.bytes, a.root, a.traffic) <
               std::tie(b.op, b.bytes, b.root, b.traffic);
    }
};

/** By slot: the distinct calls of @p program on its group there, in ascending order. */
std::vector<std::vector<SlotCall>> DistinctCalls(const StepProgram& program);

/** The engine's call for @p ask. @param traffics by index into StepGraph::traffics */
CollectiveCall CallOf(const SlotCall& ask,
                      CommunicatorId communicator,
                      const std::vector<TrafficId>& traffics);

/**
 * The engine's call for @p op on @p communicator.
 * @param traffics by index into StepGraph::traffics, as AddTraffics returns them
 */
CollectiveCall CallOf(const StepOp& op,
                      CommunicatorId communicator,
                      const std::vector<TrafficId>& traffics);

/**
 * Registers the unequal parts of @p graph with @p planner.
 * @return by index into StepGraph::traffics
 */
std::vector<TrafficId> AddTraffics(const StepGraph& graph, Planner& planner);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEP_CALL_H
