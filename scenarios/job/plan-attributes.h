// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_PLAN_ATTRIBUTES_H
#define WEIR_JOB_PLAN_ATTRIBUTES_H

#include "compute-model/plan/parallel-plan.h"
#include "ns3/object-base.h"
#include "ns3/type-id.h"

namespace ns3
{

/**
 * Adds an attribute for each value of a plan that scenario files have (weir::PlanKeys): "tensor" is
 * Tensor, "host.kernel" HostKernel. Choices are strings, sizes bytes.
 * @param tid the type that gets them
 * @param planOf where an object of that type keeps its plan
 * @return the type
 */
TypeId AddPlanAttributes(TypeId tid, weir::ParallelPlan& (*planOf)(ObjectBase& object));

/**
 * Gives a plan another framework's values in place of the ones that nobody has set.
 * @param plan where a value is the one of @p before, gets the one of @p after
 * @param before what the framework so far has
 * @param after what the new framework has
 */
void ReplaceUnsetValues(weir::ParallelPlan& plan,
                        const weir::ParallelPlan& before,
                        const weir::ParallelPlan& after);

/**
 * What the attributes' defaults are.
 * @return the plan
 */
weir::ParallelPlan DefaultAttributes();

} // namespace ns3

#endif // WEIR_JOB_PLAN_ATTRIBUTES_H
