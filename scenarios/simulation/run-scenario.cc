// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/running/run-scenario.h"

#include "scenarios/results/model-flops.h"
#include "scenarios/results/recorder.h"
#include "scenarios/results/result-file.h"
#include "scenarios/results/timeline.h"
#include "scenarios/running/wired-scenario.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <sys/resource.h>

namespace weir
{

namespace
{

constexpr std::size_t BUSIEST_LINKS = 5;
constexpr uint64_t PROGRESS_INTERVAL = 256; //!< instants between two calls of progress

/** The largest resident set of this process so far, in bytes. */
uint64_t
PeakRssBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

/** Category by category the mean of some ranks. */
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
CollectJob(TrainingJob& job)
{
    const auto& spec = job.GetSpec();
    const auto& graph = job.GetGraph();
    JobResult result;
    result.name = spec.name;
    result.gpus = spec.plan.Ranks();
    const double samples = spec.plan.globalBatch;
    const auto* model = std::get_if<Transformer>(&spec.network);
    result.countsSamples = model == nullptr;
    result.itemsPerStep = samples * (model == nullptr ? 1 : model->sequence);
    result.modelFlopsPerStep =
        std::visit([&](const auto& network) { return ModelFlops(network, samples); }, spec.network);
    result.steps = job.GetExecutor().StepTimes();
    result.stepTime = job.GetExecutor().SteadyStep();
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

/** The links that were used most, by mean utilization; ties by id. */
std::vector<BusyLink>
FindBusiestLinks(WiredScenario& wired, Time span)
{
    const Topology& topology = wired.GetTopology();
    std::vector<std::pair<double, uint32_t>> ranking;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const double bytes = wired.GetTransport().GetLinkUsage(LinkId(i)).bytes;
        const double capacity =
            topology.GetLink(LinkId(i)).rate.ToBytesPerSecond() * span.ToSeconds();
        if (bytes > 0 && capacity > 0)
        {
            ranking.emplace_back(-bytes / capacity, static_cast<uint32_t>(i));
        }
    }
    const std::size_t count = std::min(BUSIEST_LINKS, ranking.size());
    std::partial_sort(ranking.begin(), ranking.begin() + count, ranking.end());
    std::vector<BusyLink> busiest;
    for (std::size_t i = 0; i < count; i++)
    {
        const LinkId id(ranking[i].second);
        const LinkUsage usage = wired.GetTransport().GetLinkUsage(id);
        busiest.push_back({topology.LinkName(id),
                           ToString(topology.GetLink(id).kind),
                           -ranking[i].first,
                           usage.busy / span,
                           Bytes::Nearest(usage.bytes)});
    }
    return busiest;
}

} // namespace

void
PlainLoop::Run(EngineSet& engines, const std::function<void(Time)>& progress)
{
    uint64_t instants = 0;
    for (Time next = engines.NextEventTime(); !next.IsInfinite(); next = engines.NextEventTime())
    {
        engines.RunUntil(next);
        if (++instants % PROGRESS_INTERVAL == 0)
        {
            progress(next);
        }
    }
}

RunResult
RunScenario(const Scenario& scenario, EngineLoop& loop, const std::function<void(Time)>& progress)
{
    const auto begin = std::chrono::steady_clock::now();
    std::unique_ptr<ResultFile> file;
    std::unique_ptr<Timeline> timeline;
    if (!scenario.output.file.empty())
    {
        file = std::make_unique<ResultFile>(scenario);
    }
    if (scenario.output.timeline)
    {
        timeline = std::make_unique<Timeline>(TimelinePath(scenario), scenario);
    }

    WiredScenario wired(scenario);
    Recorder recorder;
    if (file)
    {
        file->Begin(wired);
        recorder.AddSink(*file);
    }
    if (timeline)
    {
        timeline->Begin(wired);
        recorder.AddSink(*timeline);
    }
    if (file || timeline)
    {
        for (std::size_t job = 0; job < wired.JobCount(); job++)
        {
            recorder.AddJob(wired.GetJob(JobId(job)));
        }
        recorder.Watch(wired.GetTransport(),
                       wired.GetTopology().LinkCount(),
                       file ? scenario.output.linkSeries : std::nullopt);
    }

    loop.Run(wired.Engines(), progress);

    RunResult result;
    for (std::size_t job = 0; job < wired.JobCount(); job++)
    {
        result.jobs.push_back(CollectJob(wired.GetJob(JobId(job))));
    }
    result.busiestLinks = FindBusiestLinks(wired, wired.Now());
    result.events = wired.Engines().Instants();
    result.waiting = wired.DescribeWaiting();
    recorder.Finish(wired.Now());
    if (file)
    {
        file->Commit(result, wired.Now());
    }
    if (timeline)
    {
        timeline->Commit();
    }
    result.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.peakRssBytes = PeakRssBytes();
    return result;
}

} // namespace weir
