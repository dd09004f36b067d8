// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/link-bins.h"

#include "scenarios/results/link-series.h"

#include <unordered_map>
#include <vector>

namespace weir
{

namespace
{

/** Whether every call in @p fidelity puts traffic on links. */
bool
LoadsLinks(Fidelity fidelity)
{
    return fidelity != Fidelity::Analytical && fidelity != Fidelity::Auto;
}

/** An operation of a program and the number of operations in the program with the same plan. */
struct CountedOp
{
    const StepOp* op;
    double count;
};

/** The distinct communication operations of a step of @p rank. */
std::vector<CountedOp>
DistinctOps(Simulation& simulation, JobId job, Rank rank)
{
    const StepGraph& graph = simulation.GetJob(job).GetGraph();
    std::vector<CountedOp> ops;
    std::unordered_map<const CollectivePlan*, std::size_t> known;
    for (const auto& stream : graph.programs[graph.rankProgram[rank.Index()]].streams)
    {
        for (const StepOp& op : stream)
        {
            if (op.kind == StepOpKind::Compute)
            {
                continue;
            }
            const uint32_t group = graph.rankGroups[rank.Index()][op.group];
            const CollectivePlan& plan =
                simulation.GetPlanner().Plan(simulation.CallOf(job, group, op));
            const auto [entry, isNew] = known.emplace(&plan, ops.size());
            if (isNew)
            {
                ops.push_back({&op, 0});
            }
            ops[entry->second].count++;
        }
    }
    return ops;
}

/** Lower bound on the number of bins of one step of @p job. */
double
MinStepBins(Simulation& simulation, JobId job, Time width)
{
    const StepGraph& graph = simulation.GetJob(job).GetGraph();
    std::vector<std::vector<CountedOp>> ops(graph.programs.size());
    double bins = 0;
    for (std::size_t rank = 0; rank < graph.RankCount() && bins <= LinkSeries::MAX_BINS; rank++)
    {
        auto& distinct = ops[graph.rankProgram[rank]];
        if (distinct.empty())
        {
            distinct = DistinctOps(simulation, job, Rank(rank));
        }
        for (const auto& [op, count] : distinct)
        {
            const uint32_t group = graph.rankGroups[rank][op->group];
            if (graph.groups[group].front() == Rank(rank)) // starts the group's call
            {
                const CollectiveCall call = simulation.CallOf(job, group, *op);
                bins +=
                    count *
                    MinLinkBins(simulation.GetPlanner().Plan(call), simulation.GetRouting(), width);
            }
        }
    }
    return bins;
}

} // namespace

double
MinLinkBins(const CollectivePlan& plan, const Routing& routing, Time width)
{
    double bins = 0;
    for (const StreamLeg& leg : plan.legs)
    {
        bins += LinkSeries::MinBins(routing, leg.route, leg.bytes, width);
    }
    return bins;
}

double
MinLinkBins(Simulation& simulation, Time width)
{
    double bins = 0;
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        if (LoadsLinks(simulation.FidelityOf(JobId(job))))
        {
            const TrainingJobSpec& spec = simulation.GetJob(JobId(job)).GetSpec();
            const uint32_t steps = spec.steady.IsOn() ? 1 : spec.steps;
            bins += steps * MinStepBins(simulation, JobId(job), width);
        }
    }
    for (std::size_t i = 0; i < simulation.Collectives().size(); i++)
    {
        const CollectiveLoop& loop = *simulation.Collectives()[i];
        if (!LoadsLinks(simulation.CollectiveFidelity(i)) ||
            simulation.IsKeptBusy({WorkId::Kind::Collective, i}))
        {
            continue;
        }
        const double rounds = static_cast<double>(loop.CallCount()) / loop.Calls().size();
        for (const CollectiveCall& call : loop.Calls())
        {
            bins += rounds *
                    MinLinkBins(simulation.GetPlanner().Plan(call), simulation.GetRouting(), width);
        }
    }
    for (std::size_t i = 0; i < simulation.TrafficJobs().size(); i++)
    {
        if (!simulation.IsKeptBusy({WorkId::Kind::Traffic, i}))
        {
            bins += simulation.TrafficJobs()[i]->MinLinkBins(width);
        }
    }
    return bins;
}

} // namespace weir
