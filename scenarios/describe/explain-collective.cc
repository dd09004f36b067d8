// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/explain-collective.h"

#include "scenarios/describe/explain-channels.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/yaml/input-error.h"

#include <cstdio>
#include <stdexcept>

namespace weir
{

namespace
{

class Explanation
{
  public:
    explicit Explanation(const CollectiveSweepSpec& spec)
        : m_spec(spec),
          m_simulation(spec.cluster, SettingsOf(spec)),
          m_planner(m_simulation.GetPlanner()),
          m_communicator(m_planner.AddCommunicator(SweepGpus(spec)))
    {
    }

    std::string Channels()
    {
        return ExplainChannels(m_planner.GetCommunicator(m_communicator),
                               m_simulation.GetCluster(),
                               m_simulation.GetRouting());
    }

    std::string Size(Bytes size)
    {
        CollectiveCall call;
        call.communicator = m_communicator;
        call.op = m_spec.op;
        call.bytes = size;
        call.overrides = m_spec.overrides;
        const CollectivePlan plan = m_planner.Plan(call);
        std::string text = "#\n# " + std::string(ToString(call.op)) + " of " +
                           std::to_string(size.Count()) + " B: " + ToString(plan.algorithm) + " " +
                           ToString(plan.protocol) + " on " + std::to_string(plan.channels) +
                           " channels, " + FormatSeconds(plan.duration.ToSeconds()) +
                           (plan.period < plan.duration ? " alone; below, calls overlap" : "") +
                           "\n";
        return text + Alternatives(call, plan) + Chunks(call) + Shares(plan);
    }

  private:
    std::string Alternatives(const CollectiveCall& call, const CollectivePlan& chosen)
    {
        std::string text;
        for (const auto& each : m_planner.Estimates(call))
        {
            CollectiveCall forced = call;
            forced.overrides.algorithm = each.algorithm;
            forced.overrides.protocol = each.protocol;
            const bool is = each.algorithm == chosen.algorithm && each.protocol == chosen.protocol;
            const Time own = m_planner.Plan(forced).duration;
            char line[160];
            std::snprintf(line,
                          sizeof line,
                          "#   %s %-14s %-6s NCCL expects %12s, Weir %12s\n",
                          is ? "*" : " ",
                          ToString(each.algorithm),
                          ToString(each.protocol),
                          each.time.IsInfinite() ? "off"
                                                 : FormatSeconds(each.time.ToSeconds()).c_str(),
                          FormatSeconds(own.ToSeconds()).c_str());
            text += line;
        }
        return text;
    }

    std::string Chunks(const CollectiveCall& call)
    {
        try
        {
            return ChunksOf(call);
        }
        catch (const std::length_error& error)
        {
            return std::string("#   no list of chunks: ") + error.what() + "\n";
        }
    }

    std::string ChunksOf(const CollectiveCall& call)
    {
        const Schedule& schedule = m_planner.GetSchedule(call);
        std::string text;
        if (schedule.channels.empty())
        {
            return text;
        }
        for (const auto& loop : schedule.channels.front().schedule.loops)
        {
            if (loop.chunks.empty())
            {
                continue;
            }
            text += "#   channel 0: " + std::to_string(loop.repeat) + " x " +
                    std::to_string(loop.chunks.size()) + " chunks of " +
                    std::to_string(loop.chunks.front().Count()) + " B, each in " +
                    std::to_string(loop.slices) + " slices\n";
        }
        return text;
    }

    /** The slowest leg's bytes, on a link or in its blocks, against all that they wait for. */
    std::string Shares(const CollectivePlan& plan)
    {
        if (plan.duration <= Time())
        {
            return "";
        }
        const double latency = 1 - plan.wire / plan.duration;
        const bool wire = plan.bottleneck.IsValid();
        char line[200];
        std::snprintf(line,
                      sizeof line,
                      "#   latency %.1f %%, %s %.1f %%; ",
                      100 * latency,
                      wire ? "wire" : "thread blocks",
                      100 * (1 - latency));
        return line +
               (wire ? "bottleneck " + LinkName(plan.bottleneck)
                     : std::string("no link is the bottleneck")) +
               "\n";
    }

    std::string LinkName(LinkId id)
    {
        const Topology& topology = m_simulation.GetTopology();
        const Link& link = topology.GetLink(id);
        char rate[40];
        std::snprintf(rate, sizeof rate, " at %.4g GB/s", link.rate.ToGBps());
        return topology.GetDevice(link.from).name + " > " + topology.GetDevice(link.to).name + rate;
    }

    const CollectiveSweepSpec& m_spec;
    Simulation m_simulation;
    Planner& m_planner;
    CommunicatorId m_communicator;
};

} // namespace

std::string
ExplainCollective(const CollectiveSweepSpec& spec)
{
    try
    {
        Explanation explanation(spec);
        std::string text = explanation.Channels();
        for (const Bytes size : spec.sizes)
        {
            text += explanation.Size(size);
        }
        return text;
    }
    catch (const std::invalid_argument& error)
    {
        throw InputError(error.what());
    }
    catch (const std::runtime_error& error)
    {
        throw InputError(error.what());
    }
}

} // namespace weir
