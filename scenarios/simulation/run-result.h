// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_RUN_RESULT_H
#define WEIR_SCENARIOS_SIMULATION_RUN_RESULT_H

#include "collectives/engines/auto-engine.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/plan/memory-estimate.h"
#include "fabric/transport/hybrid/hybrid-transport.h"
#include "fabric/transport/replay/replay-transport.h"
#include "fabric/units.h"
#include "scenarios/bound/call-position.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Usage of a link; RunResult lists the busiest first. */
struct BusyLink
{
    std::string name;
    std::string kind;
    double meanUtilization{0}; //!< bytes / (rate * measured time)
    double busyFraction{0};    //!< fraction of the measured time with any traffic
    Bytes bytes;
};

/** Result of one training job. */
struct JobResult
{
    std::string name;
    uint32_t gpus{0};
    bool isWorkload{false};            //!< an imported workload, whose model is unknown
    double itemsPerStep{0};            //!< tokens, or samples if @c countsSamples
    bool countsSamples{false};         //!< a table of layers is trained, which has no tokens
    Flops modelFlopsPerStep;           //!< of the whole job, without recomputation
    std::vector<Time> steps;           //!< duration of each finished step
    std::vector<RankBreakdown> ranks;  //!< by rank, of the steady step
    std::vector<RankBreakdown> stages; //!< by pipeline stage, mean over its ranks
    RankBreakdown mean;                //!< mean over all ranks
    Time stepTime{Time::Infinite()};   //!< steady step: StepExecutor::SteadyStep
    SteadyKind stepKind{SteadyKind::Last};
    MemoryEstimate memory; //!< of a GPU of the fullest stage
};

/** Result of a job that is a collective. */
struct CollectiveJobResult
{
    std::string name;
    std::vector<CollectiveCall> sequence; //!< calls of one round
    std::size_t gpus{0};
    std::vector<Time> calls; //!< duration of each finished call; call i is sequence[i % its size]
    Rate busBandwidth;       //!< over all finished calls

    /** Mean duration of the finished calls; infinite when there are none. */
    Time MeanTime() const;
};

/** Result of a job that is traffic. */
struct TrafficJobResult
{
    std::string name;
    TrafficKind kind{TrafficKind::Poisson};
    std::size_t gpus{0};
    std::size_t started{0};        //!< number of started flows
    Bytes bytes;                   //!< of the started flows
    std::vector<Time> times;       //!< completion times of the finished flows
    std::vector<double> slowdowns; //!< times over the flows' uncontended completion times
};

/** Packet counters of all ports. */
struct PacketCounts
{
    PortCounters ports;       //!< totals; maxQueued is the maximum over all ports
    std::string longestQueue; //!< link of the port with the longest queue; empty: none
};

/** Round trip of a full packet on an idle path. */
struct IdlePathResult
{
    std::string from; //!< device name
    std::string to;
    Time roundTrip; //!< of the packet and its acknowledgment
    uint32_t hops{0};
};

/** The result that `weir run` reports. */
struct RunResult
{
    std::vector<JobResult> jobs;
    std::vector<CollectiveJobResult> collectives; //!< jobs that are collectives
    std::vector<TrafficJobResult> traffics;       //!< jobs that are traffic
    std::vector<BusyLink> busiestLinks;           //!< at most five
    Time measured;                                //!< end of the measured window, which starts at 0
    uint64_t events{0};                           //!< instants visited
    double wallSeconds{0};
    uint64_t peakRssBytes{0};
    std::optional<PacketCounts> packets{};        //!< if packets were simulated
    std::optional<IdlePathResult> longestPath{};  //!< among the paths that packets took
    std::optional<ReplayCounters> replay{};       //!< of packets, if known episodes are replayed
    std::optional<CouplingCounters> coupling{};   //!< of packets and fluid on shared links, if any
    std::vector<FidelityUse> fidelityUses;        //!< in Fidelity::Auto: the fidelities of calls
    ClusterFeatures cluster{};                    //!< features that the bound of a step depends on
    std::optional<ErrorBound> bound{};            //!< of BoundedTime(), if requested
    std::optional<MeasuredBound> measuredBound{}; //!< interval of measured steps, if requested
    bool isPartial{false};                        //!< stopped before its end
    std::string waiting; //!< what ranks wait for, if the run could not finish; otherwise empty

    /** The steady step of the first job; infinite when none finished. */
    Time StepTime() const
    {
        return jobs.empty() ? Time::Infinite() : jobs.front().stepTime;
    }

    /**
     * The time that a bound applies to: the steady step or, without training jobs, the mean call of
     * the first collective.
     */
    Time BoundedTime() const
    {
        return jobs.empty() && !collectives.empty() ? collectives.front().MeanTime() : StepTime();
    }
};

/**
 * Bus bandwidth as nccl-tests computes it, over the finished calls of a sequence.
 * @param calls durations; call i is sequence[i % its size]
 * @param gpus number of ranks
 */
Rate BusBandwidthOf(const std::vector<CollectiveCall>& sequence,
                    const std::vector<Time>& calls,
                    std::size_t gpus);

/** The current result of @p simulation, without wall-clock time and memory. */
RunResult CollectResult(Simulation& simulation);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RUN_RESULT_H
