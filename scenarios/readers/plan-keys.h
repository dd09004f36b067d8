// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PLAN_KEYS_H
#define WEIR_SCENARIOS_READERS_PLAN_KEYS_H

#include "compute-model/plan/parallel-plan.h"
#include "fabric/parameters/parameter-visitor.h"

#include <string>

namespace weir
{

/**
 * What of a parallel plan is one value each, as parameters: for the reader and the writer of
 * scenario files and for the attributes of ns3::TrainingJob. Keys are paths, "tensor" or
 * "host.kernel", in the order in which they are written. What else a plan has is read by itself:
 * tensorShape and expertLoad, and the job's precision.
 */
class PlanKeys : public Parameterized
{
  public:
    explicit PlanKeys(ParallelPlan& plan);

    void VisitParameters(ParameterVisitor& visitor) override;

  private:
    ParallelPlan& m_plan;
};

/** What a plan is of which nothing is said: Megatron-LM's. */
ParallelPlan DefaultPlan();

/** The map within the plan that a key is in: "host" of "host.kernel"; else nothing. */
std::string MapOfKey(const std::string& key);

/** A key's name there: "kernel" of "host.kernel". */
std::string NameInMap(const std::string& key);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PLAN_KEYS_H
