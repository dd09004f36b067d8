// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/recorder.h"

#include "scenarios/results/timeline.h"
#include "scenarios/writers/write-scenario.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

Time
KernelTimeOf(const StepProgram& program)
{
    Time sum;
    for (const StepOp& op : program.streams[static_cast<std::size_t>(StreamKind::Compute)])
    {
        sum += op.duration;
    }
    return sum;
}

/**
 * Kernel time of a rank in a step without contention for the GPU; @p even: the same where ranks are
 * alike.
 */
Time
KernelTimeOf(const StepGraph& graph, const RankDifference& difference, uint32_t rank, Time even)
{
    const RankJitter jitter(difference.jitter);
    const double scale = difference.computeScale.empty() ? 1 : difference.computeScale[rank];
    if (difference.jitter.scope != JitterScope::Operation)
    {
        return even * (scale * jitter.Factor(rank, difference.step, 0));
    }
    constexpr auto STREAM = static_cast<uint32_t>(StreamKind::Compute);
    Time sum;
    uint32_t number = STREAM; // numbered as the executor numbers operations
    for (const StepOp& op : graph.programs[graph.rankProgram[rank]].streams[STREAM])
    {
        sum += op.duration * (scale * jitter.Factor(rank, difference.step, number));
        number += STREAM_COUNT;
    }
    return sum;
}

/** The first rank of each program that has ranks, in ascending order. */
std::vector<Rank>
FirstRanks(const StepGraph& graph)
{
    std::vector<Rank> ranks;
    std::vector<bool> seen(graph.programs.size());
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        if (!seen[graph.rankProgram[rank]])
        {
            seen[graph.rankProgram[rank]] = true;
            ranks.emplace_back(rank);
        }
    }
    return ranks;
}

/** The step of a job that timelines show. */
uint32_t
ShownStep(const TrainingJobSpec& job)
{
    return (job.steady.IsOn() ? std::min(job.steps, SteadyRule::MIN_STEPS) : job.steps) - 1;
}

} // namespace

RecordingSpec
RecordingOf(const Scenario& scenario)
{
    return {scenario.output,
            scenario.output.timeline ? TimelinePath(scenario) : "",
            scenario.title,
            scenario.fidelity,
            scenario.seed,
            scenario.nccl.version,
            [&scenario] { return DumpScenario(scenario); }};
}

std::vector<Rank>
RepresentativeRanks(const StepGraph& graph)
{
    const std::vector<Rank> firsts = FirstRanks(graph);
    std::vector<bool> isNewStage(firsts.size());
    std::vector<bool> seen(graph.programs.size()); // by stage; at most one per program
    std::size_t busiest = 0;
    Time max;
    std::size_t chosen = 1; // the busiest program
    for (std::size_t i = 0; i < firsts.size(); i++)
    {
        const uint32_t program = graph.rankProgram[firsts[i].Index()];
        const uint32_t stage = graph.programStage[program];
        isNewStage[i] = !seen[stage];
        seen[stage] = true;
        chosen += isNewStage[i] ? 1 : 0;
        const Time time = KernelTimeOf(graph.programs[program]);
        if (time > max)
        {
            max = time;
            busiest = i;
        }
    }
    chosen -= !firsts.empty() && isNewStage[busiest] ? 1 : 0; // the busiest was counted twice
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < firsts.size(); i++)
    {
        const bool hasRoom = chosen < MAX_REPRESENTATIVES;
        if (isNewStage[i] || i == busiest || hasRoom)
        {
            chosen += isNewStage[i] || i == busiest ? 0 : 1;
            ranks.push_back(firsts[i]);
        }
    }
    return ranks;
}

bool
RankDifference::IsAny() const
{
    return jitter.IsOn() || std::any_of(computeScale.begin(), computeScale.end(), [this](double s) {
               return s != computeScale.front();
           });
}

std::vector<Rank>
RecordedRanks(const StepGraph& graph, const RankDifference& difference, const OutputSpec& output)
{
    std::vector<bool> isRecorded(graph.RankCount(), output.allRanks);
    for (const Rank rank : RepresentativeRanks(graph))
    {
        isRecorded[rank.Index()] = true;
    }
    for (const uint32_t rank : output.ranks)
    {
        if (rank < isRecorded.size())
        {
            isRecorded[rank] = true;
        }
    }
    if (difference.IsAny() && !output.allRanks)
    {
        std::vector<Time> evenTimes; // by program
        for (const StepProgram& program : graph.programs)
        {
            evenTimes.push_back(KernelTimeOf(program));
        }
        std::map<uint32_t, std::vector<std::pair<Time, uint32_t>>> byStage;
        for (uint32_t rank = 0; rank < graph.RankCount(); rank++)
        {
            const uint32_t program = graph.rankProgram[rank];
            byStage[graph.programStage[program]].emplace_back(
                KernelTimeOf(graph, difference, rank, evenTimes[program]), rank);
        }
        for (auto& [stage, ranks] : byStage)
        {
            std::sort(ranks.begin(), ranks.end());
            const Time longest = ranks.back().first;
            if (ranks.front().first == longest)
            {
                continue;
            }
            const Time median = ranks[(ranks.size() - 1) / 2].first;
            for (const Time time : {median, longest})
            {
                const auto first =
                    std::lower_bound(ranks.begin(), ranks.end(), std::make_pair(time, 0U));
                isRecorded[first->second] = true;
            }
        }
    }
    std::vector<Rank> recorded;
    for (uint32_t rank = 0; rank < isRecorded.size(); rank++)
    {
        if (isRecorded[rank])
        {
            recorded.emplace_back(rank);
        }
    }
    return recorded;
}

std::vector<Rank>
RecordedRanks(const TrainingRun& job, const OutputSpec& output)
{
    const TrainingJobSpec& spec = job.GetSpec();
    return RecordedRanks(job.GetGraph(), {spec.computeScale, spec.jitter, ShownStep(spec)}, output);
}

std::vector<uint32_t>
RepresentedRankCounts(const StepGraph& graph, const std::vector<Rank>& recorded, bool areAlike)
{
    std::vector<uint32_t> counts(recorded.size(), 1);
    if (!areAlike)
    {
        return counts;
    }
    std::vector<uint32_t> left(graph.programs.size()); // ranks that are not recorded, by program
    for (const uint32_t program : graph.rankProgram)
    {
        left[program]++;
    }
    for (const Rank rank : recorded)
    {
        left[graph.rankProgram[rank.Index()]]--;
    }
    for (std::size_t i = 0; i < recorded.size(); i++)
    {
        counts[i] += std::exchange(left[graph.rankProgram[recorded[i].Index()]], 0);
    }
    return counts;
}

class Recorder::JobObserver : public StepObserver
{
  public:
    JobObserver(JobId id,
                const TrainingRun& job,
                const std::vector<Rank>& ranks,
                const RecordSinks& sinks)
        : m_id(id),
          m_shownStep(ShownStep(job.GetSpec())),
          m_shownRanks(job.GetGraph().RankCount()),
          m_shownGroups(job.GetGraph().groups.size()),
          m_sinks(sinks)
    {
        for (const Rank rank : ranks)
        {
            m_shownRanks[rank.Index()] = true;
        }
        for (std::size_t group = 0; group < m_shownGroups.size(); group++)
        {
            const auto& members = job.GetGraph().groups[group];
            m_shownGroups[group] = std::any_of(members.begin(), members.end(), [&](Rank rank) {
                return m_shownRanks[rank.Index()];
            });
        }
    }

    bool Watches(Rank rank) const override
    {
        return m_shownRanks[rank.Index()];
    }

    void OnOpFinished(uint32_t step,
                      Rank rank,
                      StreamKind stream,
                      const StepOp& op,
                      Time posted,
                      Time started,
                      Time finished) override
    {
        if (m_shownRanks[rank.Index()])
        {
            m_sinks.Tell(
                &RecordSink::OnOp,
                OpRecord{
                    m_id, step, rank, stream, &op, step == m_shownStep, posted, started, finished});
        }
    }

    void OnCollectiveFinished(uint32_t step,
                              uint32_t group,
                              const StepOp& op,
                              uint64_t number,
                              Time firstArrival,
                              Time started,
                              Time finished) override
    {
        if (m_shownGroups[group])
        {
            m_sinks.Tell(&RecordSink::OnCollective,
                         CollectiveRecord{m_id,
                                          step,
                                          group,
                                          &op,
                                          number,
                                          step == m_shownStep,
                                          firstArrival,
                                          started,
                                          finished});
        }
    }

    void OnStepFinished(uint32_t step, Time started, Time finished) override
    {
        m_stepsDone = step + 1;
        m_sinks.Tell(&RecordSink::OnStep, StepRecord{m_id, step, started, finished});
    }

    bool IsInShownStep() const
    {
        return m_stepsDone == m_shownStep;
    }

  private:
    JobId m_id;
    uint32_t m_shownStep;
    uint32_t m_stepsDone{0};
    std::vector<bool> m_shownRanks;
    std::vector<bool> m_shownGroups;
    const RecordSinks& m_sinks;
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

void
Recorder::AddSink(RecordSink& sink)
{
    m_sinks.Add(sink);
}

void
Recorder::AddJob(TrainingRun& job, const std::vector<Rank>& ranks)
{
    m_jobs.push_back(std::make_unique<JobObserver>(JobId(m_jobs.size()), job, ranks, m_sinks));
    job.GetExecutor().AddObserver(*m_jobs.back());
}

void
Recorder::AddCollective(CollectiveLoop& loop)
{
    loop.Watch([this, index = m_collectives++](uint32_t number, Time started, Time now) {
        m_sinks.Tell(&RecordSink::OnCall, CallRecord{index, number, started, now});
    });
}

void
Recorder::Watch(Transport& transport,
                const Routing& routing,
                FindOwner findOwner,
                std::optional<Time> linkSeries,
                std::optional<Time> portSeries)
{
    const std::size_t links = routing.GetTopology().LinkCount();
    if (portSeries)
    {
        m_portSeries = std::make_unique<PortSeries>(links, *portSeries);
        if (!transport.AddPortObserver(*m_portSeries))
        {
            throw std::invalid_argument(
                "found a port series where not every packet is simulated, expected fidelity packet "
                "or hybrid, without network.settle");
        }
    }
    if (linkSeries)
    {
        m_linkSeries = std::make_unique<LinkSeries>(links, *linkSeries, m_sinks);
        if (transport.Moves(FlowForm::Packets) && !transport.AddPortObserver(*this))
        {
            throw std::invalid_argument(
                "found a link series where not every packet is simulated, expected it without "
                "network.settle");
        }
    }
    m_routing = &routing;
    m_findOwner = std::move(findOwner);
    m_transport = &transport;
    transport.AddObserver(*this, linkSeries.has_value());
}

void
Recorder::FinishSeries(Time now)
{
    if (m_linkSeries)
    {
        m_transport->RemovePortObserver(*this);
        m_linkSeries->Finish(now);
        m_linkSeries.reset();
    }
    if (m_portSeries)
    {
        m_transport->RemovePortObserver(*m_portSeries);
        m_portSeries->Finish(now, m_sinks);
        m_portSeries.reset();
    }
}

void
Recorder::Finish(Time now)
{
    FinishSeries(now);
    m_sinks.Clear();
}

/**
 * Uncontended completion time of a flow on its final path. For a flow that switches split by load,
 * the time with the best split ratio: the even split of its route or, where links are down, the
 * split that it used.
 */
Time
Recorder::IdealTime(const FlowRequest& request, FlowPath path)
{
    if (path.unit == 1)
    {
        return m_transport->UncontendedTime(request, path.path);
    }
    const Time even = m_transport->UncontendedTime(request, PathId());
    if (m_transport->FormOf(request) != FlowForm::Fluid)
    {
        return even;
    }
    FlowRequest part = request;
    part.bytes = Bytes((request.bytes.Count() + path.unit - 1) / path.unit);
    part.cap = request.cap / path.unit;
    return std::min(even, m_transport->UncontendedTime(part, path.path));
}

void
Recorder::OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now)
{
    const bool isShown =
        m_jobs.empty() || std::any_of(m_jobs.begin(), m_jobs.end(), [](const auto& job) {
            return job->IsInShownStep();
        });
    const FlowCounters* packets = m_transport->GetFlowCounters(id);
    const FlowPath path = m_transport->CurrentPath(id);
    const uint64_t key = uint64_t{path.path.Index()} << 32 | path.unit;
    const auto number = static_cast<uint32_t>(m_pathNumbers.size());
    m_sinks.Tell(&RecordSink::OnFlow,
                 FlowRecord{m_findOwner(request),
                            request.route,
                            path,
                            m_pathNumbers.try_emplace(key, number).first->second,
                            request.bytes,
                            request.weight,
                            IdealTime(request, path),
                            isShown,
                            started,
                            now,
                            packets == nullptr ? FlowCounters() : *packets});
}

void
Recorder::OnLinkRate(LinkId link, Rate rate, Time now)
{
    if (m_linkSeries)
    {
        m_linkSeries->SetRate(link, rate, now);
    }
}

void
Recorder::OnTransmit(LinkId link, unsigned, uint32_t bytes, Time now, Time end)
{
    m_linkSeries->AddPacket(
        link, bytes * PayloadFraction(m_routing->GetTopology().GetLink(link)), now, end);
}

} // namespace weir
