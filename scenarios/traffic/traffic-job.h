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
 * Starts the flows of a pattern between GPUs at their times and notes how long each took. Flows
 * take the paths of GpuRoutes, each as a queue pair of its own.
 */
class TrafficJob : public PassiveEngine, public FlowClient
{
  public:
    /** Told when its last flow has ended, or when it was stopped. */
    using Ended = std::function<void(Time now)>;

    /**
     * @param gpus the end points
     * @param fabric must outlive it
     * @throws InputError as MakeTrafficPattern; std::runtime_error when no link joins end points.
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

    /** How many flows it starts on average; infinite where only Stop() ends it. */
    double MeanFlowCount() const
    {
        return weir::MeanFlowCount(m_spec, EndPoints());
    }

    /**
     * Bins of @p width in which links have traffic of its flows, at least, found by drawing them
     * all; of those that have no end, of as many as fill a link series.
     */
    double LeastLinkBins(Time width);

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    void OnFlowDone(uint64_t token, Time now) override;

    /** Starts no more flows, and has ended: what is under way is played to its end. */
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

    /** Flows that have started. */
    std::size_t Started() const
    {
        return m_starts.size();
    }

    /** Bytes of the flows that have started. */
    Bytes StartedBytes() const
    {
        return m_bytes;
    }

    /** Completion times of the flows that have ended, in the order of their ends. */
    const std::vector<Time>& CompletionTimes() const
    {
        return m_times;
    }

    /** Those over what the flow takes uncontended. */
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
    std::optional<TrafficFlow> m_next; //!< to be started; nothing: none is left
    bool m_isStopped{false};
    Bytes m_bytes;
    std::vector<Time> m_starts; //!< by flow
    std::vector<Time> m_ideals; //!< by flow: uncontended
    std::size_t m_done{0};
    std::vector<Time> m_times;
    std::vector<double> m_slowdowns;
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_TRAFFIC_JOB_H
