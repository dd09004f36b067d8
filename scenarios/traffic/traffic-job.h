// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRAFFIC_TRAFFIC_JOB_H
#define WEIR_SCENARIOS_TRAFFIC_TRAFFIC_JOB_H

#include "fabric/fabric.h"
#include "fabric/transport/passive-engine.h"
#include "fabric/transport/transport.h"
#include "scenarios/traffic/gpu-routes.h"
#include "scenarios/traffic/source-ports.h"
#include "scenarios/traffic/traffic-pattern.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * Starts the flows of a traffic pattern between GPUs at their start times and records their
 * completion times. Flows take the routes of GpuRoutes, each as a separate queue pair.
 */
class TrafficJob : public PassiveEngine, public FlowClient
{
  public:
    /** Called when one of its flows has ended, or the job without flows. */
    using Ended = std::function<void(Time now)>;

    /**
     * @param gpus the end points
     * @param form form of its flows where the transport supports both
     * @param fabric must outlive the job
     * @param ended callback at the end of each flow
     * @throws InputError as MakeTrafficPattern
     * @throws std::runtime_error when no path connects end points.
     */
    TrafficJob(std::string name,
               const TrafficSpec& spec,
               std::vector<GpuId> gpus,
               FlowForm form,
               Fabric& fabric,
               Ended ended);

    const std::string& GetName() const
    {
        return m_name;
    }

    const TrafficSpec& GetSpec() const
    {
        return m_spec;
    }

    std::size_t GpuCount() const
    {
        return m_gpus.size();
    }

    /** Expected number of flows; infinite if only Stop() ends the job. */
    double MeanFlowCount() const
    {
        return weir::MeanFlowCount(m_spec, EndPoints());
    }

    /**
     * Lower bound on the number of bins of @p width with link traffic of its flows, found by
     * drawing all flows; stops once a link series is full.
     */
    double MinLinkBins(Time width);

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    void OnFlowDone(uint64_t token, Time now) override;

    /** Stops the job: no more flows start; flows in progress continue to their end. */
    void Stop()
    {
        m_next.reset();
        m_isStopped = true;
    }

    /** Whether its last flow has ended, or it was stopped. */
    bool IsFinished() const
    {
        return m_isStopped || (!m_next && m_done == m_starts.size());
    }

    /** Number of flows that have started. */
    std::size_t Started() const
    {
        return m_starts.size();
    }

    /** Total bytes of the flows that have started. */
    Bytes StartedBytes() const
    {
        return m_bytes;
    }

    /** Completion times of the finished flows, in order of completion. */
    const std::vector<Time>& CompletionTimes() const
    {
        return m_times;
    }

    /** Completion times over uncontended completion times, in the same order. */
    const std::vector<double>& Slowdowns() const
    {
        return m_slowdowns;
    }

  private:
    std::vector<TrafficEndPoint> EndPoints() const;
    void StartNext(Time now);

    std::string m_name;
    TrafficSpec m_spec;
    std::vector<GpuId> m_gpus;
    FlowForm m_form;
    Fabric& m_fabric;
    GpuRoutes m_routes;
    SourcePorts m_ports;
    Ended m_ended;
    std::unique_ptr<TrafficPattern> m_pattern;
    std::optional<TrafficFlow> m_next; //!< the next flow to start; nothing if none is left
    bool m_isStopped{false};
    Bytes m_bytes;
    std::vector<Time> m_starts; //!< by flow
    std::vector<Time> m_ideals; //!< by flow: uncontended completion time
    std::size_t m_done{0};
    std::vector<Time> m_times;
    std::vector<double> m_slowdowns;
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_TRAFFIC_JOB_H
