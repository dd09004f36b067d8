// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_FLOW_SOURCE_H
#define WEIR_MODEL_FLOW_SOURCE_H

#include "fluid-fabric.h"

#include "fabric/units.h"
#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * A GPU that starts flows over the fabric independently of the completion of earlier ones: an open
 * loop. Exponential intervals make Poisson traffic.
 *
 * It is an application of a server of a cluster (a Node with a GpuServer). The first flow starts at
 * its StartTime, and each further one an interval after the previous start, until StopTime or
 * MaxFlows. Flows in progress at StopTime complete. Without destinations it sends only the flows
 * that Send() requests.
 */
class FlowSource : public Application
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    FlowSource();

    /**
     * Sets the destinations. Each flow goes to one of them, chosen uniformly at random.
     * @param gpus numbered as in the cluster
     */
    void SetDestinations(const std::vector<uint32_t>& gpus)
    {
        m_receivers = gpus;
    }

    /**
     * Starts a flow now, in addition to those that start at intervals.
     * @param destination the receiving GPU, numbered as in the cluster
     * @param bytes bytes on the wire
     * @return the flow's number
     */
    uint64_t Send(uint32_t destination, uint64_t bytes);

    /** The number of flows that have been started. */
    uint64_t GetStarted() const
    {
        return m_started;
    }

    /** The number of flows that have ended. */
    uint64_t GetFinished() const
    {
        return m_finished;
    }

    /**
     * Assigns fixed streams to the random variables.
     * @param stream number of the first
     * @return the number of streams
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature of FlowFinished.
     * @param source the sending GPU, counted as in the cluster
     * @param destination the receiving GPU
     * @param bytes of the flow
     * @param started exact time of its start
     * @param now exact time
     */
    typedef void (*FlowFinishedTracedCallback)(
        uint32_t source, uint32_t destination, uint64_t bytes, weir::Time started, weir::Time now);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    /** A flow in progress. */
    struct Flow
    {
        uint32_t destination; //!< GPU
        uint64_t bytes;       //!< that cross the wire
        weir::Time started;   //!< exact time
    };

    /** Starts the flow that is due and schedules the next one. */
    void SendNext();

    /** Reports the end of a flow. */
    void Finish(Flow flow, uint64_t number);

    /** Sets whether flows are fluid or packets in a hybrid. */
    void SetForm(std::string form);

    /** Whether flows are fluid or packets in a hybrid. */
    std::string GetForm() const
    {
        return m_form == weir::FlowForm::Packets ? "packet" : "fluid";
    }

    /** The number of the sending GPU in the cluster; aborts if the node is no server. */
    uint32_t GetSource() const;

    uint32_t m_gpu;                               //!< number of the sending GPU within its server
    weir::FlowForm m_form{weir::FlowForm::Fluid}; //!< in a hybrid
    uint64_t m_maxFlows;               //!< maximum of flows started at intervals; 0: no limit
    Ptr<RandomVariableStream> m_size;  //!< bytes
    Ptr<RandomVariableStream> m_pause; //!< interval between starts, seconds
    Ptr<UniformRandomVariable> m_pick; //!< selects the destination
    std::vector<uint32_t> m_receivers; //!< GPUs of the cluster
    EventId m_next;                    //!< event of the next start
    uint64_t m_scheduled{0};           //!< number of flows started at intervals
    uint64_t m_started{0};             //!< flows
    uint64_t m_finished{0};            //!< flows
    uint32_t m_zeroIntervals{0};       //!< number of consecutive intervals of zero

    TracedCallback<uint32_t, uint32_t, uint64_t, weir::Time, weir::Time>
        m_flowFinished; //!< FlowFinished trace source
};

} // namespace ns3

#endif // WEIR_MODEL_FLOW_SOURCE_H
