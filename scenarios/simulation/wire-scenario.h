// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RUNNING_WIRED_SCENARIO_H
#define WEIR_SCENARIOS_RUNNING_WIRED_SCENARIO_H

#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "compute-model/training-job.h"
#include "fabric/fabric.h"
#include "fabric/transport/passive-engine.h"
#include "scenarios/results/record.h"
#include "scenarios/running/fabric-events.h"
#include "scenarios/scenario.h"

#include <memory>
#include <vector>

namespace weir
{

/** Does nothing but know the time: the last instant that anything happened. */
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

/** A scenario joined together and ready to run: the fabric, the planner, the engine, the jobs. */
class WiredScenario
{
  public:
    /**
     * Packed placement: jobs take GPUs in their order, each the next ones, node after node.
     * @throws InputError (with the scenario's file and the job) when the fabric cannot be wired, a
     *         plan cannot run or does not fit, the jobs need more GPUs than there are, or an event
     *         names what does not exist.
     */
    explicit WiredScenario(const Scenario& scenario);
    ~WiredScenario();
    WiredScenario(const WiredScenario&) = delete;
    WiredScenario& operator=(const WiredScenario&) = delete;

    const Topology& GetTopology() const
    {
        return m_fabric.GetCluster().GetTopology();
    }

    const Cluster& GetCluster() const
    {
        return m_fabric.GetCluster();
    }

    Routing& GetRouting()
    {
        return m_fabric.GetRouting();
    }

    FluidTransport& GetTransport()
    {
        return m_fabric.GetTransport();
    }

    Planner& GetPlanner()
    {
        return m_planner;
    }

    std::size_t JobCount() const
    {
        return m_jobs.size();
    }

    TrainingJob& GetJob(JobId job)
    {
        return *m_jobs[job.Index()];
    }

    /** The communicator of a group of a job's graph. */
    CommunicatorId GetCommunicator(JobId job, uint32_t group);

    /** What the engine is asked for when @p op of a job's group is due. */
    CollectiveCall CallOf(JobId job, uint32_t group, const StepOp& op);

    /** Executors, collective engine, transport, events and clock, in this order. */
    EngineSet& Engines()
    {
        return m_engines;
    }

    /** The last instant at which anything happened. */
    Time Now() const
    {
        return m_clock.Now();
    }

    /** Whether all jobs have done all steps. */
    bool IsFinished() const;

    /** Which ranks wait for what; empty when finished. */
    std::string DescribeWaiting() const;

  private:
    std::vector<LinkId> LinksDown() const;
    void AddJob(const Scenario& scenario, const JobSpec& spec, std::size_t firstGpu);

    /**
     * Plans every call of a job now, on the healthy fabric, as NCCL connects its channels when a
     * job starts: links that fail later change the way of transfers, not the plans, and GPUs that
     * no link joins are known before anything runs.
     */
    void PlanAllCalls(JobId job, Fidelity fidelity);
    void PlanCall(JobId job, Rank rank, const StepOp& op, Fidelity fidelity);

    Fabric m_fabric;
    Planner m_planner;
    std::unique_ptr<CollectiveEngine> m_engine;
    std::vector<std::unique_ptr<TrainingJob>> m_jobs;
    std::vector<std::vector<CommunicatorId>> m_communicators; //!< by job and group, when asked for
    std::unique_ptr<FabricEvents> m_events;
    RunClock m_clock;
    EngineSet m_engines;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RUNNING_WIRED_SCENARIO_H
