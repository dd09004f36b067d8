// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PLAN_KEYS_H
#define WEIR_SCENARIOS_READERS_PLAN_KEYS_H

#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

/**
 * @file
 * What of a parallel plan is one value each: one list for the reader and the writer of scenario
 * files and for the attributes of ns3::TrainingJob.
 */
namespace weir
{

/** Where a plan keeps a value. */
template <typename T>
using PlanPlace = T& (*)(ParallelPlan&);

struct PlanCount
{
    PlanPlace<uint32_t> at;
    int64_t least;
    int64_t most;
};

struct PlanFlag
{
    PlanPlace<bool> at;
};

struct PlanNumber
{
    PlanPlace<double> at;
    double least;
    double most;
};

struct PlanSize
{
    PlanPlace<Bytes> at;
};

struct PlanTime
{
    PlanPlace<Time> at;
};

/** One of some names. */
struct PlanChoice
{
    std::vector<std::string> names;
    std::function<std::size_t(const ParallelPlan&)> get; //!< index into names
    std::function<void(ParallelPlan&, std::size_t)> set;
};

/** One value of a plan. */
struct PlanKey
{
    std::string path; //!< "tensor"; of a map within, "host.kernel"
    std::string help; //!< a sentence
    std::variant<PlanCount, PlanFlag, PlanNumber, PlanSize, PlanTime, PlanChoice> value;

    /** The map within the plan that it is in: "host" of "host.kernel"; else nothing. */
    std::string Map() const;

    /** Its name there: "kernel" of "host.kernel". */
    std::string Name() const;
};

/**
 * All of them, in the order in which they are written. What else a plan has is read by itself:
 * tensorShape and expertLoad, and the job's precision.
 */
std::vector<PlanKey> PlanKeys();

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PLAN_KEYS_H
