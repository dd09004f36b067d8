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

/** Does nothing but know the time: the last instant at which anything happened. */
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

/** What every link has carried in the time that is measured: from 0 to the end of all work. */
struct MeasuredLinks
{
    std::vector<LinkUsage> usage; //!< by link; empty: work is under way
    Time end;
};

/** Work of any kind, by its number among those of its kind. */
struct WorkId
{
    enum class Kind : uint8_t
    {
        Training,
        Collective,
        Traffic
    };

    Kind kind{Kind::Training};
    std::size_t index{0};
};

/**
 * All that takes part in one simulation, joined together: the fabric, NCCL's planner, the engines
 * of collectives by fidelity, jobs, events, the engine set that advances them. The one place where
 * these are wired: for runs, single collectives, validation, explanations and ns-3 programs.
 *
 * In every instant jobs come first, then the engines of collectives, the transport, events and the
 * clock, each in the order in which it was added.
 */
class Simulation
{
  public:
    /**
     * On a cluster of its own, with an engine set of its own; bytes move as MakeTransport says.
     * @throws std::invalid_argument when @p cluster cannot be wired.
     */
    explicit Simulation(const ClusterSpec& cluster,
                        NcclSettings nccl = {},
                        TransportSpec transport = {});

    /** On hosts and switches without nodes; otherwise as above. */
    Simulation(Topology topology, FabricSpec fabric, TransportSpec transport = {});

    /**
     * On a fabric that is another's, as an ns-3 program's is, and is advanced with its engines.
     * @param fabric must outlive it
     * @param engines holds the fabric's transport already; must outlive it
     */
    Simulation(Fabric& fabric, EngineSet& engines, NcclSettings nccl = {});
    ~Simulation();
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
     * The engine of a fidelity; made, and advanced with the others, from the first call on.
     * @throws std::invalid_argument as MakeCollectiveEngine, and at Auto without a judge.
     */
    CollectiveEngine& GetEngine(Fidelity fidelity);

    /** What Fidelity::Auto chooses by; before anything is added in that fidelity. */
    void SetJudge(std::unique_ptr<ShortcutJudge> judge)
    {
        m_judge = std::move(judge);
    }

    /** The engine of Fidelity::Auto; null where nothing has been added in it. */
    AutoEngine* FindAutoEngine() const
    {
        return m_auto;
    }

    /** The engine of Fidelity::Flow or Packet; it also plays back-to-back calls. */
    FlowEngine& GetFlowEngine(Fidelity fidelity);

    /**
     * Adds a training job; it begins at its start.
     * @throws std::invalid_argument as TrainingRun; std::runtime_error when GPUs are not joined.
     */
    JobId AddJob(const TrainingJobSpec& job, const Gpu& gpu, Fidelity fidelity);

    /**
     * @p work goes on until @p other has ended, which ends by itself: a training job does all its
     * steps at least, a collective makes no more calls then, traffic starts no more flows. Both
     * have been added.
     */
    void KeepBusyUntil(WorkId work, WorkId other);

    /** Whether @p work goes on until another has ended. */
    bool IsKeptBusy(WorkId work) const;

    /**
     * Adds collectives of a group of GPUs that are called again and again.
     * @param sequence its calls' communicator is set here
     * @throws as Planner::Plan.
     */
    CollectiveLoop& AddCollective(const std::vector<GpuId>& gpus,
                                  CallSequence sequence,
                                  Fidelity fidelity,
                                  CollectiveLoop::CallEnded ended);

    /**
     * Adds traffic between @p gpus as a job. @throws as TrafficJob.
     * @param form what its flows are where the transport moves both
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
     * Adds what starts flows of no job's, advanced after the transport: ends before starts.
     * @param name what result files call it instead of a job
     */
    void AddTraffic(std::unique_ptr<PassiveEngine> engine, const std::string& name);

    /**
     * Flows of no job's that end from now on are for @p label, which is a collective of its own.
     * @param name what result files call it instead of a job
     */
    void BeginTraffic(const std::string& name, const std::string& label);

    /** What result files call flows of no job's instead of a job. */
    const std::string& TrafficName() const
    {
        return m_trafficName;
    }

    /** What flows of no job's are for, in the order of FlowOwner::label. */
    const std::vector<std::string>& TrafficLabels() const
    {
        return m_trafficLabels;
    }

    /**
     * Adds what happens to the fabric at a time.
     * @param isOver when later events are dropped; nothing: at the end of all jobs
     * @throws std::invalid_argument as FabricEvents.
     */
    void AddEvents(const std::vector<EventSpec>& events, std::function<bool()> isOver = {});

    /**
     * Plans every call of a job now, as NCCL connects its channels when a job starts: GPUs that no
     * link joins are known before anything runs. @throws as Planner::Plan.
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

    /** That which a call ran in of whose end its client is being told: a job of @p fidelity. */
    Fidelity FidelityOfEndedCall(Fidelity fidelity) const
    {
        return fidelity == Fidelity::Auto ? m_auto->GetEndedFidelity() : fidelity;
    }

    const Gpu& GpuOf(JobId job) const
    {
        return *m_jobs[job.Index()].gpu;
    }

    /** In the order in which they were added. */
    const std::vector<std::unique_ptr<CollectiveLoop>>& Collectives() const
    {
        return m_collectives;
    }

    /** Of that collective of Collectives(). */
    Fidelity CollectiveFidelity(std::size_t collective) const
    {
        return m_collectiveFidelities[collective];
    }

    /** The communicator of a group of a job's graph. */
    CommunicatorId GetCommunicator(JobId job, uint32_t group);

    /** What the engine is asked for when @p op of a job's group is due. */
    CollectiveCall CallOf(JobId job, uint32_t group, const StepOp& op);

    /** Whose a flow is that has not been reported as done. O(jobs). */
    FlowOwner OwnerOf(const FlowRequest& request) const;

    /** What links have carried until the last job or collective ended, and when that was. */
    const MeasuredLinks& GetMeasuredLinks();

    /** Calls @p tell at that instant, when all is measured. */
    void WhenMeasured(std::function<void(Time)> tell)
    {
        m_tellMeasured = std::move(tell);
    }

    EngineSet& Engines()
    {
        return m_engines;
    }

    /** The last instant at which anything happened. */
    Time Now() const
    {
        return m_clock.Now();
    }

    /** The part of its work that the least advanced job has done that ends by itself. O(jobs). */
    double DoneFraction() const;

    /** Whether all jobs and collectives have done all steps and calls. */
    bool IsFinished() const;

    /** Who waits for what, and which links are down, in one line; empty when finished. */
    std::string DescribeWaiting();

    /** Which links are down or at a rate of zero, and which wait for each other; empty: none. */
    std::string DescribeStuckLinks();

  private:
    class JobEnds;

    struct Job
    {
        std::unique_ptr<Gpu> gpu;
        std::unique_ptr<TrainingRun> run;
        Fidelity fidelity;
        std::vector<CommunicatorId> communicators; //!< by group, once asked for
        double stepOps{0};                         //!< operations of a step, of all ranks
    };

    static constexpr std::size_t FIDELITIES = 6; //!< those of Fidelity

    /** On a fabric of its own. */
    Simulation(std::unique_ptr<Fabric> fabric, NcclSettings nccl);
    void MakeAutoEngine();
    void PlanCall(JobId job, Rank rank, const StepOp& op);
    void MeasureLinks(Time now);
    void OnJobEnded(Time now);
    bool HasEnded(WorkId work) const;
    void Stop(WorkId work);

    std::unique_ptr<Fabric> m_ownFabric;
    std::unique_ptr<EngineSet> m_ownEngines;
    Fabric& m_fabric;
    EngineSet& m_engines;
    NcclSettings m_nccl;
    Planner m_planner;
    std::unique_ptr<ShortcutJudge> m_judge; //!< of Fidelity::Auto
    std::array<std::unique_ptr<CollectiveEngine>, FIDELITIES> m_byFidelity;
    AutoEngine* m_auto{nullptr}; //!< of these, that of Auto
    std::vector<Job> m_jobs;
    std::vector<std::unique_ptr<CollectiveLoop>> m_collectives;
    std::vector<Fidelity> m_collectiveFidelities;   //!< one each
    std::vector<std::pair<WorkId, WorkId>> m_until; //!< the first stops after the second
    std::vector<std::unique_ptr<FabricEvents>> m_events;
    std::vector<std::unique_ptr<TrafficJob>> m_trafficJobs;
    std::vector<std::unique_ptr<PassiveEngine>> m_traffics;
    std::string m_trafficName{"background"};
    std::vector<std::string> m_trafficLabels{"background"};
    std::unique_ptr<JobEnds> m_jobEnds;
    MeasuredLinks m_measured;
    std::function<void(Time)> m_tellMeasured;
    RunClock m_clock;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_SIMULATION_H
