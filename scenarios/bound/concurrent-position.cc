// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/concurrent-position.h"

#include "collectives/engines/call-classes.h"
#include "scenarios/bound/call-position.h"
#include "scenarios/describe/describe-packets.h"

#include <algorithm>

namespace weir
{

namespace
{

/** What of the scenario no sample has; empty: nothing. */
std::string
UnsampledPart(const Scenario& scenario, Fidelity reference)
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
           : reference == Fidelity::Packet &&
                   DescribePackets(scenario.packets) != DescribePackets(PacketSpec())
               ? "packets other than the defaults"
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

/** Whether a call of a job passes chunks on from rank to rank. */
bool
IsPipelined(Simulation& simulation)
{
    const auto& loops = simulation.Collectives();
    return std::any_of(loops.begin(), loops.end(), [&](const auto& loop) {
        const CollectivePlan& plan = simulation.GetPlanner().Plan(loop->GetCall());
        return plan.algorithm != Algorithm::PointToPoint;
    });
}

} // namespace

RegimePosition
PositionOfCalls(const Scenario& scenario, Simulation& simulation, Fidelity reference)
{
    Planner& planner = simulation.GetPlanner();
    const CollectivePlan& plan = planner.Plan(simulation.Collectives().front()->GetCall());
    RegimePosition position = CallPositions(planner).Of(plan, scenario.fidelity);
    const bool isConcurrent = IsSlowedByOthers(simulation);
    position.path = {ToString(scenario.fidelity),
                     "jobs",
                     isConcurrent ? "concurrent" : "isolated",
                     IsPipelined(simulation) ? "pipelined" : "exchange",
                     isConcurrent && FeaturesOf(simulation.GetCluster()).IsOversubscribed()
                         ? CONTENDED
                         : position.path.at(CallPositions::CONTENTION)};
    position.leastDepth = position.path.size() - 1;
    if (position.unsampled.empty())
    {
        position.unsampled = UnsampledPart(scenario, reference);
    }
    return position;
}

} // namespace weir
