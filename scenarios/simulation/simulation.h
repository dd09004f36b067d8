// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_SIMULATION_H
#define WEIR_SCENARIOS_SIMULATION_SIMULATION_H

#include "collectives/engines/auto-engine.h"
#include "collectives/engines/collective-loop.h"
#include "collectives/engines/flow-engine.h"
#include "collectives/fidelity.h"
#include "collectives/nccl/nccl-settings.h"
#include "collectives/planner.h"
#include "compute-model/training-run.h"
#include "fabric/fabric.h"
#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/passive-engine.h"
#include "scenarios/results/record.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/fabric-events.h"
#include "scenarios/traffic/traffic-job.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** An engine without events that records the time of the last instant. */
class RunClock : public PassiveEngine
{
  public:
    Time NextEventTime() override
    {
        return Time::Infinite();
    }

    void AdvanceTo(Time now) override
    {
        m_now = now;
    }

    Time Now() const
    {
        return m_now;
    }

  private:
    Time m_now;
};

/** Usage of every link and port in the measured window: from 0 to the end of all work. */
struct MeasuredLinks
{
    std::vector<LinkUsage> usage;    //!< by link; empty: work is in progress
    std::vector<PortCounters> ports; //!< by link; empty: the transport has no packets
    Time end;
};

/**
 * Looks for stalls when parts of the work have ended, whose number doubles from look to look: so
 * looks cost little against the parts. It looks when all other engines have handled the instant.
 */
class StallWatch : public PassiveEngine
{
  public:
    explicit StallWatch(std::function<void()> look)
        : m_look(std::move(look))
    {
    }

    /** A step, a call, or a flow of traffic has ended at @p now. */
    void OnPartEnded(Time now)
    {
        if (++m_parts == m_nextLook)
        {
            m_nextLook *= 2;
            m_due = now;
        }
    }

    Time NextEventTime() override
    {
        return m_due;
    }

    void AdvanceTo(Time now) override
    {
        if (m_due <= now)
        {
            m_due = Time::Infinite();
            m_look();
        }
    }

  private:
    std::function<void()> m_look;
    uint64_t m_parts{0};
    uint64_t m_nextLook{1}; //!< value of m_parts
    Time m_due{Time::Infinite()};
};

/**
 * Composition root of a simulation: the fabric, NCCL's planner, the collective engines by fidelity,
 * jobs, events, and the engine set that advances them. Runs, single collectives, validation,
 * explanations and ns-3 programs all wire these here.
 *
 * In every instant jobs advance first, then collective engines, the transport, events and the
 * clock, each in the order in which it was added.
 */
class Simulation : private StepObserver
{
  public:
    /**
     * Owns a cluster and an engine set; MakeTransport creates the transport from @p transport.
     * @throws std::invalid_argument when @p cluster cannot be wired.
     */
    explicit Simulation(const ClusterSpec& cluster,
                        NcclSettings nccl = {},
                        TransportSpec transport = {});

    /** The same on hosts and switches without nodes. */
    Simulation(Topology topology, FabricSpec fabric, TransportSpec transport = {});

    /**
     * Uses a fabric owned by others, such as an ns-3 program, and advances with its engines.
     * @param fabric must outlive the simulation
     * @param engines must hold the fabric's transport already and outlive the simulation
     */
    Simulation(Fabric& fabric, EngineSet& engines, NcclSettings nccl = {});
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    Fabric& GetFabric()
    {
        return m_fabric;
    }

    const Cluster& GetCluster() const
    {
        return m_fabric.GetCluster();
    }

    const Topology& GetTopology() const
    {
        return m_fabric.GetRouting().GetTopology();
    }

    Routing& GetRouting()
    {
        return m_fabric.GetRouting();
    }

    Transport& GetTransport()
    {
        return m_fabric.GetTransport();
    }

    Planner& GetPlanner()
    {
        return m_planner;
    }

    const NcclSettings& GetNcclSettings() const
    {
        return m_nccl;
    }

    /**
     * The collective engine of a fidelity; the first call creates it and adds it to the engine set.
     * @throws std::invalid_argument as MakeCollectiveEngine, and for Auto without a judge.
     */
    CollectiveEngine& GetEngine(Fidelity fidelity);

    /**
     * Sets the judge by which Fidelity::Auto chooses; call it before adding work in that fidelity.
     */
    void SetJudge(std::unique_ptr<ShortcutJudge> judge)
    {
        m_judge = std::move(judge);
    }

    /** The engine of Fidelity::Auto; null if nothing has been added in that fidelity. */
    AutoEngine* FindAutoEngine() const
    {
        return m_auto;
    }

    /** The engine of Fidelity::Flow, Packet or Hybrid; it also runs back-to-back calls. */
    FlowEngine& GetFlowEngine(Fidelity fidelity);

    /**
     * Adds a training job, which begins at its start time.
     * @throws std::invalid_argument as TrainingRun
     * @throws std::runtime_error when GPUs are not connected.
     */
    JobId AddJob(const TrainingJobSpec& job, const Gpu& gpu, Fidelity fidelity);

    /**
     * Lets @p work continue until @p other has ended, which must end by itself. A training job does
     * at least all its steps; a collective then starts no more calls; traffic starts no more flows.
     * Both must have been added.
     */
    void KeepBusyUntil(WorkId work, WorkId other);

    /** Whether @p work continues until other work has ended. */
    bool IsKeptBusy(WorkId work) const;

    /**
     * Adds a repeated sequence of collectives on a group of GPUs.
     * @param sequence its calls; this function sets their communicator
     * @param ended called at the end of each call; may be empty
     * @throws as Planner::Plan.
     */
    CollectiveLoop& AddCollective(const std::vector<GpuId>& gpus,
                                  CallSequence sequence,
                                  Fidelity fidelity,
                                  CollectiveLoop::CallEnded ended);

    /**
     * Adds traffic between @p gpus as a job.
     * @throws as TrafficJob.
     * @param form form of its flows where the transport supports both
     */
    TrafficJob& AddTrafficJob(const std::string& name,
                              const TrafficSpec& traffic,
                              const std::vector<GpuId>& gpus,
                              FlowForm form);

    /** Jobs that are traffic, in the order in which they were added. */
    const std::vector<std::unique_ptr<TrafficJob>>& TrafficJobs() const
    {
        return m_trafficJobs;
    }

    /**
     * Adds an engine that starts flows of no job; it is advanced after the transport, so ends come
     * before starts.
     * @param name the job name of these flows in result files
     */
    void AddTraffic(std::unique_ptr<PassiveEngine> engine, const std::string& name);

    /**
     * Assigns flows of no job that end from now on to @p label, which is a separate collective.
     * @param name the job name of these flows in result files
     */
    void BeginTraffic(const std::string& name, const std::string& label);

    /** The job name of flows of no job in result files. */
    const std::string& TrafficName() const
    {
        return m_trafficName;
    }

    /** Labels of flows of no job, indexed by FlowOwner::label. */
    const std::vector<std::string>& TrafficLabels() const
    {
        return m_trafficLabels;
    }

    /**
     * Adds timed events of the fabric.
     * @param isOver condition after which events are dropped; nothing: the end of all jobs
     * @throws std::invalid_argument as FabricEvents.
     */
    void AddEvents(const std::vector<EventSpec>& events, std::function<bool()> isOver = {});

    /**
     * Plans every call of a job now, as NCCL connects its channels when a job starts, so that GPUs
     * without a connecting path are found before the run.
     * @throws as Planner::Plan.
     */
    void PlanAllCalls(JobId job);

    std::size_t JobCount() const
    {
        return m_jobs.size();
    }

    TrainingRun& GetJob(JobId job)
    {
        return *m_jobs[job.Index()].run;
    }

    Fidelity FidelityOf(JobId job) const
    {
        return m_jobs[job.Index()].fidelity;
    }

    /**
     * The fidelity of the call whose end is being reported to its client, for a job of @p fidelity.
     */
    Fidelity FidelityOfEndedCall(Fidelity fidelity) const
    {
        return fidelity == Fidelity::Auto ? m_auto->GetEndedFidelity() : fidelity;
    }

    const Gpu& GpuOf(JobId job) const
    {
        return *m_jobs[job.Index()].gpu;
    }

    /** Jobs that are collectives, in the order in which they were added. */
    const std::vector<std::unique_ptr<CollectiveLoop>>& Collectives() const
    {
        return m_collectives;
    }

    /** The fidelity of a collective, by its index in Collectives(). */
    Fidelity CollectiveFidelity(std::size_t collective) const
    {
        return m_collectiveFidelities[collective];
    }

    /** The owner of a flow whose end has not been reported yet. O(jobs). */
    FlowOwner OwnerOf(const FlowRequest& request) const;

    /** Link usage up to the end of the last job or collective, and the time of that end. */
    const MeasuredLinks& GetMeasuredLinks();

    /** Calls @p tell at that end, after the links have been measured. */
    void OnLinksMeasured(std::function<void(Time)> tell)
    {
        m_onLinksMeasured = std::move(tell);
    }

    EngineSet& Engines()
    {
        return m_engines;
    }

    /** The last instant with an event. */
    Time Now() const
    {
        return m_clock.Now();
    }

    /** The fraction of work done by the least advanced job that ends by itself. O(jobs). */
    double DoneFraction() const;

    /** Whether all training jobs, collectives and traffic have finished. */
    bool IsFinished() const;

    /** One line that states who waits for what and which links are down; empty when finished. */
    std::string DescribeWaiting();

    /**
     * Lists links that are down or have rate zero, and links that wait for each other; empty: none.
     */
    std::string DescribeStuckLinks();

  private:
    struct Job
    {
        std::unique_ptr<Gpu> gpu;
        std::unique_ptr<TrainingRun> run;
        Fidelity fidelity;
        double stepOps{0}; //!< operations of a step, summed over all ranks
    };

    static constexpr std::size_t FIDELITIES = 6; //!< number of enumerators of Fidelity

    bool Watches(Rank /* rank */) const override
    {
        return false;
    }

    void OnStepFinished(uint32_t /* step */, Time /* started */, Time finished) override
    {
        OnPartEnded(finished);
    }

    /** Owns @p fabric. */
    Simulation(std::unique_ptr<Fabric> fabric, NcclSettings nccl);
    void MakeAutoEngine();
    void PlanCall(JobId job, Rank rank, const StepOp& op);
    void MeasureLinks(Time now);
    void OnPartEnded(Time now);
    bool HasEnded(WorkId work) const;
    bool WaitsForever(WorkId work);
    void StopWhatWaitsForever();
    void Stop(WorkId work);

    std::unique_ptr<Fabric> m_ownFabric;
    std::unique_ptr<EngineSet> m_ownEngines;
    Fabric& m_fabric;
    EngineSet& m_engines;
    NcclSettings m_nccl;
    Planner m_planner;
    std::unique_ptr<ShortcutJudge> m_judge; //!< for Fidelity::Auto
    std::array<std::unique_ptr<CollectiveEngine>, FIDELITIES> m_byFidelity;
    AutoEngine* m_auto{nullptr}; //!< the engine of Auto in m_byFidelity
    std::vector<Job> m_jobs;
    std::vector<std::unique_ptr<CollectiveLoop>> m_collectives;
    std::vector<Fidelity> m_collectiveFidelities;   //!< by index in m_collectives
    std::vector<std::pair<WorkId, WorkId>> m_until; //!< the first stops when the second has ended
    StallWatch m_stallWatch{[this] { StopWhatWaitsForever(); }}; //!< in the set if m_until is used
    std::vector<std::unique_ptr<FabricEvents>> m_events;
    std::vector<std::unique_ptr<TrafficJob>> m_trafficJobs;
    std::vector<std::unique_ptr<PassiveEngine>> m_traffics;
    std::string m_trafficName{"background"};
    std::vector<std::string> m_trafficLabels{"background"};
    MeasuredLinks m_measured;
    std::function<void(Time)> m_onLinksMeasured;
    RunClock m_clock;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_SIMULATION_H
