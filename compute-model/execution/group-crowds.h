// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_GROUP_CROWDS_H
#define WEIR_COMPUTE_MODEL_EXECUTION_GROUP_CROWDS_H

#include "collectives/planner.h"
#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** A call that takes longer than alone, because groups like its own make it at the same time. */
struct CrowdedCall
{
    CollectiveCall call;
    Time duration;
};

/**
 * The calls of @p graph that share links with others of their kind: groups of one slot whose ranks
 * run one program issue them together (the data-parallel groups of all tensor ranks of a stage, the
 * transfers of all ranks of a stage to the next), and meet on a NIC that several GPUs use.
 *
 * They are taken to begin at once: what a call then takes longer than alone (AddedTogether) is
 * added to its plan's time. Groups of other slots and stages are left out, as what they do is not
 * known to coincide: gradients that are reduced beside the backward pass slow no tensor group down.
 *
 * @param communicators by group. @param traffics by index into StepGraph::traffics.
 * O(links of the legs of all calls that differ in their group), more where legs are unlike
 * (AddedTogether).
 * @throws as Planner::Plan does.
 */
std::vector<CrowdedCall> CrowdedCalls(const StepGraph& graph,
                                      const std::vector<CommunicatorId>& communicators,
                                      Planner& planner,
                                      const std::vector<TrafficId>& traffics = {});

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_GROUP_CROWDS_H
