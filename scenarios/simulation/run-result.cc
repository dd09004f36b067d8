// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/run-result.h"

#include "fabric/transport/hybrid/hybrid-transport.h"
#include "fabric/transport/packet/packet-transport.h"
#include "scenarios/results/model-flops.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <variant>

namespace weir
{

namespace
{

constexpr std::size_t BUSIEST_LINKS = 5;
constexpr std::size_t BUSIEST_OF_NETWORK =
    4; //!< of these, since links inside nodes are often busier

class BreakdownMean
{
  public:
    void Add(const RankBreakdown& breakdown)
    {
        for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
        {
            m_seconds[i] += breakdown.spent[i].ToSeconds();
        }
        m_count++;
    }

    RankBreakdown Get() const
    {
        RankBreakdown mean;
        for (std::size_t i = 0; i < TIME_CATEGORY_COUNT && m_count > 0; i++)
        {
            mean.spent[i] = Time::Seconds(m_seconds[i] / static_cast<double>(m_count));
        }
        return mean;
    }

  private:
    std::array<double, TIME_CATEGORY_COUNT> m_seconds{};
    std::size_t m_count{0};
};

JobResult
CollectJob(TrainingRun& job)
{
    const auto& spec = job.GetSpec();
    const auto& graph = job.GetGraph();
    JobResult result;
    result.name = spec.name;
    result.gpus = spec.plan.Ranks();
    result.isWorkload = spec.recorded.has_value();
    const double samples = result.isWorkload ? 0 : spec.plan.globalBatch;
    const auto* model = std::get_if<Transformer>(&spec.network);
    result.countsSamples = model == nullptr;
    result.itemsPerStep = samples * (model == nullptr ? 1 : model->sequence);
    result.modelFlopsPerStep = model == nullptr
                                   ? ModelFlops(std::get<LayerTable>(spec.network), samples)
                                   : ModelFlops(*model, samples, spec.plan.expertLoad);
    result.steps = job.GetExecutor().StepTimes();
    result.stepTime = job.GetExecutor().SteadyStep();
    result.stepKind = job.GetExecutor().GetSteadyKind();
    result.memory = job.GetMemory();
    result.ranks = job.GetExecutor().Breakdown();
    std::vector<BreakdownMean> stages;
    BreakdownMean all;
    for (std::size_t rank = 0; rank < result.ranks.size(); rank++)
    {
        const uint32_t stage = graph.programStage[graph.rankProgram[rank]];
        stages.resize(std::max<std::size_t>(stages.size(), stage + 1));
        stages[stage].Add(result.ranks[rank]);
        all.Add(result.ranks[rank]);
    }
    for (const auto& stage : stages)
    {
        result.stages.push_back(stage.Get());
    }
    result.mean = all.Get();
    return result;
}

/**
 * The most used links by mean utilization, ties by id: BUSIEST_LINKS, among them BUSIEST_OF_NETWORK
 * of the network if as many carried bytes.
 */
std::vector<BusyLink>
FindBusiestLinks(Simulation& simulation)
{
    const MeasuredLinks& measured = simulation.GetMeasuredLinks();
    const Topology& topology = simulation.GetTopology();
    std::vector<std::pair<double, uint32_t>> ranking;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const double bytes = measured.usage[i].bytes;
        const double capacity =
            topology.GetLink(LinkId(i)).rate.ToBytesPerSecond() * measured.end.ToSeconds();
        if (bytes > 0 && capacity > 0)
        {
            ranking.emplace_back(-bytes / capacity, static_cast<uint32_t>(i));
        }
    }
    std::sort(ranking.begin(), ranking.end());
    const auto isOfNetwork = [&topology](const auto& ranked) {
        return topology.GetLink(LinkId(ranked.second)).kind == LinkKind::Network;
    };
    const auto others = std::stable_partition(ranking.begin(), ranking.end(), isOfNetwork);
    const std::size_t count = std::min(BUSIEST_LINKS, ranking.size());
    const std::size_t first = std::min<std::size_t>(others - ranking.begin(), BUSIEST_OF_NETWORK);
    std::inplace_merge(ranking.begin() + first, others, ranking.end());
    std::sort(ranking.begin(), ranking.begin() + count);
    std::vector<BusyLink> busiest;
    for (std::size_t i = 0; i < count; i++)
    {
        const LinkId id(ranking[i].second);
        const LinkUsage& usage = measured.usage[id.Index()];
        busiest.push_back({topology.LinkName(id),
                           ToString(topology.GetLink(id).kind),
                           -ranking[i].first,
                           usage.busy / measured.end,
                           Bytes::Nearest(usage.bytes)});
    }
    return busiest;
}

/** Packet counters of all ports; nothing if the transport has no packets. */
std::optional<PacketCounts>
CountPackets(Simulation& simulation)
{
    const std::vector<PortCounters>& ports = simulation.GetMeasuredLinks().ports;
    PacketCounts counts;
    for (std::size_t i = 0; i < ports.size(); i++)
    {
        if (ports[i].maxQueued > counts.ports.maxQueued)
        {
            counts.longestQueue = simulation.GetTopology().LinkName(LinkId(i));
        }
        counts.ports += ports[i];
    }
    return ports.empty() ? std::nullopt : std::optional(counts);
}

/** The longest idle path that packets took; nothing if no packet took a path. */
std::optional<IdlePathResult>
LongestPath(Simulation& simulation)
{
    Transport& transport = simulation.GetTransport();
    PacketTransport::IdlePath longest;
    if (const auto* packets = dynamic_cast<PacketTransport*>(&transport))
    {
        longest = packets->LongestIdlePath();
    }
    else if (auto* hybrid = dynamic_cast<HybridTransport*>(&transport))
    {
        longest = hybrid->GetPackets().LongestIdlePath();
    }
    else if (const auto* replay = dynamic_cast<ReplayTransport*>(&transport))
    {
        longest = replay->LongestIdlePath();
    }
    if (longest.roundTrip == Time())
    {
        return std::nullopt;
    }
    const Routing& routing = simulation.GetRouting();
    const Topology& topology = simulation.GetTopology();
    return IdlePathResult{topology.GetDevice(routing.SourceOf(longest.route)).name,
                          topology.GetDevice(routing.DestinationOf(longest.route)).name,
                          longest.roundTrip,
                          longest.hops};
}

} // namespace

Time
CollectiveJobResult::MeanTime() const
{
    return calls.empty() ? Time::Infinite()
                         : std::accumulate(calls.begin(), calls.end(), Time()) *
                               (1.0 / static_cast<double>(calls.size()));
}

Rate
BusBandwidthOf(const std::vector<CollectiveCall>& sequence,
               const std::vector<Time>& calls,
               std::size_t gpus)
{
    double seconds = 0;
    double bytes = 0; // bus bytes
    for (std::size_t i = 0; i < calls.size(); i++)
    {
        const CollectiveCall& call = sequence[i % sequence.size()];
        seconds += calls[i].ToSeconds();
        bytes += call.bytes.ToDouble() * BusBandwidthFactor(call.op, gpus);
    }
    return Rate::BytesPerSecond(seconds > 0 ? bytes / seconds : 0);
}

RunResult
CollectResult(Simulation& simulation)
{
    RunResult result;
    for (std::size_t job = 0; job < simulation.JobCount(); job++)
    {
        result.jobs.push_back(CollectJob(simulation.GetJob(JobId(job))));
    }
    for (const auto& collective : simulation.Collectives())
    {
        const std::size_t gpus =
            simulation.GetPlanner().GetGroup(collective->GetCall().communicator).Size();
        const std::vector<Time>& calls = collective->Durations();
        result.collectives.push_back({collective->GetName(),
                                      collective->Calls(),
                                      gpus,
                                      calls,
                                      BusBandwidthOf(collective->Calls(), calls, gpus)});
    }
    for (const auto& traffic : simulation.TrafficJobs())
    {
        result.traffics.push_back({traffic->GetName(),
                                   traffic->GetSpec().kind,
                                   traffic->GpuCount(),
                                   traffic->Started(),
                                   traffic->StartedBytes(),
                                   traffic->CompletionTimes(),
                                   traffic->Slowdowns()});
    }
    if (const AutoEngine* automatic = simulation.FindAutoEngine())
    {
        result.fidelityUses = automatic->Uses();
    }
    const Transport& transport = simulation.GetFabric().GetTransport();
    if (const auto* replay = dynamic_cast<const ReplayTransport*>(&transport))
    {
        result.replay = replay->GetCounters();
    }
    if (const auto* hybrid = dynamic_cast<const HybridTransport*>(&transport))
    {
        result.coupling = hybrid->GetCoupling();
    }
    result.packets = CountPackets(simulation);
    result.longestPath = LongestPath(simulation);
    result.busiestLinks = FindBusiestLinks(simulation);
    result.measured = simulation.GetMeasuredLinks().end;
    result.events = simulation.Engines().Instants();
    result.cluster = FeaturesOf(simulation.GetCluster());
    result.waiting = simulation.DescribeWaiting();
    return result;
}

} // namespace weir
