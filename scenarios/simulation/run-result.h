// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_RUN_RESULT_H
#define WEIR_SCENARIOS_SIMULATION_RUN_RESULT_H

#include "collectives/engines/auto-engine.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/plan/memory-estimate.h"
#include "fabric/transport/replay/replay-transport.h"
#include "fabric/units.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/bound/regime-position.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** A link by what it carried, busiest first in RunResult. */
struct BusyLink
{
    std::string name;
    std::string kind;
    double meanUtilization{0}; //!< bytes carried over rate times the time that is measured
    double busyFraction{0};    //!< part of the time with any traffic
    Bytes bytes;
};

/** One job's outcome. */
struct JobResult
{
    std::string name;
    uint32_t gpus{0};
    bool isWorkload{false};            //!< an imported workload: of no known model
    double itemsPerStep{0};            //!< tokens, or samples where @c countsSamples
    bool countsSamples{false};         //!< whether a table of layers is trained: no tokens
    Flops modelFlopsPerStep;           //!< of the whole job, without recomputation
    std::vector<Time> steps;           //!< each finished step's duration
    std::vector<RankBreakdown> ranks;  //!< by rank: of the steady step
    std::vector<RankBreakdown> stages; //!< by pipeline stage: mean over its ranks
    RankBreakdown mean;                //!< over all ranks
    Time stepTime{Time::Infinite()};   //!< of the steady step: StepExecutor::SteadyStep
    SteadyKind stepKind{SteadyKind::Last};
    MemoryEstimate memory; //!< of a GPU of the fullest stage
};

/** The outcome of a job that is a collective. */
struct CollectiveJobResult
{
    std::string name;
    std::vector<CollectiveCall> sequence; //!< the calls of a round
    std::size_t gpus{0};
    std::vector<Time> calls; //!< each finished call's duration; call i is sequence[i % its size]
    Rate busBandwidth;       //!< of all finished calls

    /** Of finished calls; infinite when there are none. */
    Time MeanTime() const;
};

/** The outcome of a job that is traffic. */
struct TrafficJobResult
{
    std::string name;
    TrafficKind kind{TrafficKind::Poisson};
    std::size_t gpus{0};
    std::size_t started{0};        //!< flows
    Bytes bytes;                   //!< of those
    std::vector<Time> times;       //!< completion times of the flows that have ended
    std::vector<double> slowdowns; //!< those over what the flow takes uncontended
};

/** What packets have met at all ports. */
struct PacketCounts
{
    PortCounters ports;       //!< together; of the queues, the longest
    std::string longestQueue; //!< the link that it was in front of; empty: there was none
};

/** What a full packet meets where nothing else moves. */
struct IdlePathResult
{
    std::string from; //!< device
    std::string to;
    Time roundTrip; //!< its own and that of its acknowledgment
    uint32_t hops{0};
};

/** What `weir run` reports. */
struct RunResult
{
    std::vector<JobResult> jobs;
    std::vector<CollectiveJobResult> collectives; //!< jobs that are collectives
    std::vector<TrafficJobResult> traffics;       //!< jobs that are traffic
    std::vector<BusyLink> busiestLinks;           //!< at most five
    Time measured;      //!< from 0 to then links are measured: to the end of the last job
    uint64_t events{0}; //!< instants visited
    double wallSeconds{0};
    uint64_t peakRssBytes{0};
    std::optional<PacketCounts> packets{};        //!< where there are any
    std::optional<IdlePathResult> longestPath{};  //!< of those that packets have taken
    std::optional<ReplayCounters> replay{};       //!< of packets, where known episodes are replayed
    std::vector<FidelityUse> fidelityUses;        //!< of Fidelity::Auto: how calls were run
    ClusterFeatures cluster{};                    //!< what the bound of a step depends on
    std::optional<ErrorBound> bound{};            //!< of BoundedTime(), once asked for
    std::optional<MeasuredBound> measuredBound{}; //!< where measured steps lie, similarly
    bool isPartial{false};                        //!< whether it was stopped before its end
    std::string waiting; //!< who waits for what, when the run could not finish; else empty

    /** The steady step of the first job; infinite when none was finished. */
    Time StepTime() const
    {
        return jobs.empty() ? Time::Infinite() : jobs.front().stepTime;
    }

    /** What a bound is of: the steady step, or without training jobs the mean call of the first
     * collective. */
    Time BoundedTime() const
    {
        return jobs.empty() && !collectives.empty() ? collectives.front().MeanTime() : StepTime();
    }
};

/**
 * Bus bandwidth as nccl-tests counts it, over finished calls of a sequence.
 * @param calls how long call i took, which is sequence[i % its size]
 */
Rate BusBandwidthOf(const std::vector<CollectiveCall>& sequence,
                    const std::vector<Time>& calls,
                    std::size_t gpus);

/** What has come of @p simulation so far, but for the time and memory that it took. */
RunResult CollectResult(Simulation& simulation);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RUN_RESULT_H
