// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/concurrent-position.h"

#include "collectives/engines/call-classes.h"
#include "scenarios/bound/call-position.h"

#include <algorithm>

namespace weir
{

namespace
{

/** What of the scenario no sample has; empty: nothing. */
std::string
UnsampledPart(const Scenario& scenario)
{
    const auto isSimple = [](const CollectiveJobSpec& job) {
        return job.sequence.size() == 1 && job.period == Time() && job.start == Time();
    };
    const auto& jobs = scenario.collectives;
    return jobs.size() > 2              ? "more than two jobs"
           : !scenario.traffics.empty() ? "traffic"
           : !scenario.events.empty()   ? "events"
           : !std::all_of(jobs.begin(), jobs.end(), isSimple)
               ? "jobs that do more than repeat a call"
           : scenario.sharing.tolerance > 0 ? "sharing.tolerance"
           : scenario.corrections.IsOn()    ? "corrections"
                                            : "";
}

/** Whether calls of another job slow those of the first. */
bool
IsSlowedByOthers(Simulation& simulation)
{
    CallClasses classes(simulation.GetPlanner());
    for (const auto& loop : simulation.Collectives())
    {
        classes.Add({{loop->GetCall()}, {}});
    }
    return !classes.Met(0).empty();
}

} // namespace

RegimePosition
PositionOfCalls(const Scenario& scenario, Simulation& simulation)
{
    Planner& planner = simulation.GetPlanner();
    const CollectivePlan& plan = planner.Plan(simulation.Collectives().front()->GetCall());
    RegimePosition position = CallPositions(planner).Of(plan, scenario.fidelity);
    const bool isContended =
        position.path.at(CallPositions::CONTENTION) == CONTENDED || IsSlowedByOthers(simulation);
    position.path = {ToString(scenario.fidelity), "jobs", isContended ? CONTENDED : UNCONTENDED};
    position.leastDepth = position.path.size();
    if (position.unsampled.empty())
    {
        position.unsampled = UnsampledPart(scenario);
    }
    return position;
}

} // namespace weir
