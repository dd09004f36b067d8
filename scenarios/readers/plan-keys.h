// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PLAN_KEYS_H
#define WEIR_SCENARIOS_READERS_PLAN_KEYS_H

#include "compute-model/plan/parallel-plan.h"
#include "fabric/parameters/parameter-visitor.h"

#include <string>

namespace weir
{

/**
 * The scalar values of a parallel plan as parameters, for scenario files and for the attributes of
 * ns3::TrainingJob. Keys are paths, "tensor" or "host.kernel", in the order in which they are
 * written. tensorShape, expertLoad and the job's precision are read separately.
 */
class PlanKeys : public Parameterized
{
  public:
    explicit PlanKeys(ParallelPlan& plan);

    void VisitParameters(ParameterVisitor& visitor) override;

  private:
    ParallelPlan& m_plan;
};

/** The default plan: that of Megatron-LM. */
ParallelPlan DefaultPlan();

/** The map that contains a key: "host" for "host.kernel"; empty for a key of the plan itself. */
std::string MapOfKey(const std::string& key);

/** The name of a key within its map: "kernel" for "host.kernel". */
std::string NameInMap(const std::string& key);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PLAN_KEYS_H
