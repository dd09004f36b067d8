// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RECORDER_H
#define WEIR_SCENARIOS_RESULTS_RECORDER_H

#include "collectives/engines/collective-loop.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/training-run.h"
#include "fabric/transport/transport.h"
#include "scenarios/results/link-series.h"
#include "scenarios/results/port-series.h"
#include "scenarios/results/record.h"
#include "scenarios/scenario.h"

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * The ranks that stand for a whole job in tables and timelines, in ascending order: of every
 * pipeline stage its first rank (tensor rank 0 of replica 0), of every other program its first rank
 * while there are fewer than MAX_REPRESENTATIVES, and the first of those whose kernels take
 * longest. Ranks of a transformer's stage run one program, so at 1024 GPUs these few show what
 * every rank does; those of a table of layers have the embedding tables that they were assigned.
 * When else they wait is in the breakdown, which is kept of all. Complexity O(ranks + operations).
 */
std::vector<Rank> RepresentativeRanks(const StepGraph& graph);

/** How the ranks of one program differ in a step. */
struct RankDifference
{
    std::vector<double> computeScale{}; //!< by rank: slow GPUs; empty: all 1
    JitterSpec jitter{};
    uint32_t step{0}; //!< from 0 on, that is looked at

    /** Whether ranks of one program may differ. */
    bool IsAny() const;
};

/**
 * The ranks that are recorded of a job, in ascending order: the representative ones, those that
 * @p output asks for as far as the job has them, and of each stage whose ranks' kernels take
 * different times by @p difference the rank whose take longest and the (lower) median one; of
 * equals the first. Complexity O(ranks log ranks), with jitter of each operation O(ranks *
 * operations of a rank).
 */
std::vector<Rank> RecordedRanks(const StepGraph& graph,
                                const RankDifference& difference,
                                const OutputSpec& output);

/** That of @p job and the step that timelines show. */
std::vector<Rank> RecordedRanks(const TrainingRun& job, const OutputSpec& output);

/**
 * By rank of @p recorded: how many ranks it stands for. Where ranks of one program are alike, the
 * first recorded one of each stands for those that are not recorded too; else each for itself.
 */
std::vector<uint32_t> RanksStoodFor(const StepGraph& graph,
                                    const std::vector<Rank>& recorded,
                                    bool areAlike);

/** Beyond which only stages and the busiest program add one. */
constexpr std::size_t MAX_REPRESENTATIVES = 16;

/**
 * Watches executors and the transport and hands records to its sinks as they happen. Keeps
 * O(paths), O(links) for the link series, and for the port series what PortSeries says.
 *
 * What is recorded, of the whole run: every step, the operations of the recorded ranks, the
 * collectives of the groups they belong to, all flows; the series where they are asked for. Of
 * each job one step is shown in timelines: the last (of a job that runs until its mean step is
 * known the first after which it may end).
 */
class Recorder : private TransportObserver, private PortObserver
{
  public:
    Recorder();
    ~Recorder() override;

    /** Sinks must outlive the recorder. */
    void AddSink(RecordSink& sink);

    /** Watches @p ranks of the next job; @p job must outlive the recorder. */
    void AddJob(TrainingRun& job, const std::vector<Rank>& ranks);

    /** Watches the next job that is a collective; the recorder must outlive it. */
    void AddCollective(CollectiveLoop& loop);

    /** Tells whose a flow is that has just ended. */
    using FindOwner = std::function<FlowOwner(const FlowRequest& request)>;

    /**
     * Watches @p transport, whose routes are @p routing's; both must outlive the recorder.
     * @param linkSeries the width of a bin; nothing: no series
     * @param portSeries the width of a bin; nothing: no series
     * @throws std::invalid_argument when the port series is asked for of a transport without
     *         packets, or either where it does not simulate all of them.
     */
    void Watch(Transport& transport,
               const Routing& routing,
               FindOwner findOwner,
               std::optional<Time> linkSeries,
               std::optional<Time> portSeries);

    /** What links carry from @p now on, after the last job, is no part of their series. */
    void FinishLinks(Time now);

    /** The run has ended at @p now: closes the series. Sinks are told of nothing more. */
    void Finish(Time now);

  private:
    /** Passes on what one job's executor reports. */
    class JobObserver;
    /** Hands every record to every sink. */
    class Fanout;

    Time IdealTime(const FlowRequest& request, FlowPath path);
    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override;
    void OnLinkRate(LinkId link, Rate rate, Time now) override;
    void OnTransmit(
        LinkId link, unsigned trafficClass, uint32_t bytes, Time now, Time end) override;

    std::unique_ptr<Fanout> m_sinks;
    std::vector<std::unique_ptr<JobObserver>> m_jobs;
    uint32_t m_collectives{0}; //!< jobs that are collectives
    Transport* m_transport{nullptr};
    const Routing* m_routing{nullptr};
    FindOwner m_findOwner;
    std::unordered_map<uint64_t, uint32_t> m_pathNumbers; //!< by path and unit
    std::unique_ptr<LinkSeries> m_linkSeries;
    std::unique_ptr<PortSeries> m_portSeries;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RECORDER_H
