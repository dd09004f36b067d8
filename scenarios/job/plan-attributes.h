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

} // namespace ns3

#endif // WEIR_JOB_PLAN_ATTRIBUTES_H
