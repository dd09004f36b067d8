// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RECORDER_H
#define WEIR_SCENARIOS_RESULTS_RECORDER_H

#include "collectives/engines/collective-loop.h"
#include "collectives/fidelity.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/training-run.h"
#include "fabric/transport/transport.h"
#include "scenarios/results/link-series.h"
#include "scenarios/results/port-series.h"
#include "scenarios/results/record.h"
#include "scenarios/scenario.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir
{

/** What to record of a run, and the metadata that its files store. */
struct RecordingSpec
{
    OutputSpec output;
    std::string timelinePath{}; //!< empty unless the output requests a timeline
    std::string title{};
    Fidelity fidelity{Fidelity::Stream};
    uint64_t seed{0};
    std::string ncclVersion{};
    std::function<std::string()> provenance; //!< all that the run depends on, as YAML
};

/** The recording specification of @p scenario, which must outlive it. */
RecordingSpec RecordingOf(const Scenario& scenario);

/**
 * The ranks that represent a whole job in tables and timelines, in ascending order: the first rank
 * of every pipeline stage (tensor rank 0 of replica 0), the first rank of the program with the
 * longest kernel time, and the first ranks of the other programs up to MAX_REPRESENTATIVES. Ranks
 * of a transformer's stage run the same program, so at 1024 GPUs these few show what every rank
 * does; ranks of a table of layers have their assigned embedding tables. The breakdown, which is
 * kept for all ranks, holds the waiting times of the other ranks. Complexity O(ranks + operations).
 */
std::vector<Rank> RepresentativeRanks(const StepGraph& graph);

/** Differences between ranks that run the same program. */
struct RankDifference
{
    std::vector<double> computeScale{}; //!< by rank, for slow GPUs; empty: all 1
    JitterSpec jitter{};
    uint32_t step{0}; //!< the step considered, from 0

    /** Whether ranks with the same program may differ. */
    bool IsAny() const;
};

/**
 * The recorded ranks of a job, in ascending order: the representative ranks, those that @p output
 * requests and the job has, and, for each stage whose ranks' kernel times differ by @p difference,
 * the rank with the longest and the one with the (lower) median kernel time; ties go to the lowest
 * rank. Complexity O(ranks log ranks); with jitter per operation O(ranks * operations per rank).
 */
std::vector<Rank> RecordedRanks(const StepGraph& graph,
                                const RankDifference& difference,
                                const OutputSpec& output);

/** The recorded ranks of @p job, for the step that timelines show. */
std::vector<Rank> RecordedRanks(const TrainingRun& job, const OutputSpec& output);

/**
 * The number of ranks that each rank of @p recorded represents. If ranks with the same program are
 * @p areAlike, the first recorded rank of a program also represents the program's ranks that are
 * not recorded; otherwise each represents only itself.
 */
std::vector<uint32_t> RepresentedRankCounts(const StepGraph& graph,
                                            const std::vector<Rank>& recorded,
                                            bool areAlike);

/** Beyond this number only stages and the busiest program add a representative rank. */
constexpr std::size_t MAX_REPRESENTATIVES = 16;

/**
 * Observes executors and the transport and passes records to its sinks as events happen. Memory
 * O(paths), O(links) for the link series, and that of PortSeries for the port series.
 *
 * It records the whole run: every step, the operations of the recorded ranks, the collectives of
 * the groups they belong to, all flows, and the requested series. Timelines show one step of each
 * job: the last one or, for a job that runs until its mean step time is known, the first one after
 * which it may end.
 */
class Recorder : private TransportObserver, private PortObserver
{
  public:
    Recorder();
    ~Recorder() override;

    /** Sinks must outlive the recorder. */
    void AddSink(RecordSink& sink);

    /** Observes @p ranks of the next job; @p job must outlive the recorder. */
    void AddJob(TrainingRun& job, const std::vector<Rank>& ranks);

    /** Observes the next job that is a collective; the recorder must outlive it. */
    void AddCollective(CollectiveLoop& loop);

    /** Returns the owner of a flow that has just finished. */
    using FindOwner = std::function<FlowOwner(const FlowRequest& request)>;

    /**
     * Observes @p transport, whose routes belong to @p routing; both must outlive the recorder.
     * @param linkSeries bin width; nothing: no series
     * @param portSeries bin width; nothing: no series
     * @throws std::invalid_argument when the port series is requested of a transport without
     * packets, or when either series is requested of a packet transport that does not simulate
     * every packet.
     */
    void Watch(Transport& transport,
               const Routing& routing,
               FindOwner findOwner,
               std::optional<Time> linkSeries,
               std::optional<Time> portSeries);

    /** Ends both series at @p now, after the last job; later traffic is not part of them. */
    void FinishSeries(Time now);

    /** Ends the recording at @p now: closes the series and detaches the sinks. */
    void Finish(Time now);

  private:
    /** Forwards events of one job's executor as records. */
    class JobObserver;

    Time IdealTime(const FlowRequest& request, FlowPath path);
    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override;
    void OnLinkRate(LinkId link, Rate rate, Time now) override;
    void OnTransmit(
        LinkId link, unsigned trafficClass, uint32_t bytes, Time now, Time end) override;

    RecordSinks m_sinks;
    std::vector<std::unique_ptr<JobObserver>> m_jobs;
    uint32_t m_collectives{0}; //!< number of jobs that are collectives
    Transport* m_transport{nullptr};
    const Routing* m_routing{nullptr};
    FindOwner m_findOwner;
    std::unordered_map<uint64_t, uint32_t> m_pathNumbers; //!< keyed by path and unit
    std::unique_ptr<LinkSeries> m_linkSeries;
    std::unique_ptr<PortSeries> m_portSeries;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RECORDER_H
