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
 * A GPU that sends flow after flow over the fabric, whatever becomes of the earlier ones: an open
 * loop, Poisson traffic when the interval is exponential.
 *
 * An application of a server of a cluster (a Node with a GpuServer). The first flow starts at its
 * StartTime, the next ones an interval after the one before, until its StopTime or MaxFlows. Flows
 * under way when it stops go on to their ends. Without destinations it sends what Send() asks for
 * and nothing else.
 */
class FlowSource : public Application
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FlowSource();
    ~FlowSource() override;

    /**
     * Says whom it sends to: each flow goes to one of them, all alike likely.
     * @param gpus counted as in the cluster
     */
    void SetDestinations(const std::vector<uint32_t>& gpus);

    /**
     * Starts a flow now, beside those that the interval brings.
     * @param destination the receiving GPU, counted as in the cluster
     * @param bytes what crosses the wire
     * @return the flow's number
     */
    uint64_t Send(uint32_t destination, uint64_t bytes);

    /**
     * How many flows have been started.
     * @return the count
     */
    uint64_t GetStarted() const;

    /**
     * How many flows have ended.
     * @return the count
     */
    uint64_t GetFinished() const;

    /**
     * Gives the random variables fixed streams.
     * @param stream number of the first
     * @return how many streams there are
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

    /** A flow under way. */
    struct Flow
    {
        uint32_t destination; //!< GPU
        uint64_t bytes;       //!< that cross the wire
        weir::Time started;   //!< exact time
    };

    /** Starts the flow that is due and puts the next one at its time. */
    void SendNext();

    /**
     * Tells of a flow's end.
     * @param flow what it was
     * @param number of the flow
     */
    void Finish(Flow flow, uint64_t number);

    /**
     * What flows move as in a hybrid.
     * @param form fluid or packet
     */
    void SetForm(std::string form);

    /**
     * What flows move as in a hybrid.
     * @return fluid or packet
     */
    std::string GetForm() const;

    /**
     * The number of the sending GPU in the cluster; ends the program when the node is no server.
     * @return the number
     */
    uint32_t GetSource() const;

    uint32_t m_gpu;                               //!< number of the sending GPU within its server
    weir::FlowForm m_form{weir::FlowForm::Fluid}; //!< in a hybrid
    uint64_t m_maxFlows;                          //!< that the interval brings; 0: no limit
    Ptr<RandomVariableStream> m_size;             //!< bytes
    Ptr<RandomVariableStream> m_pause;            //!< seconds from start to start
    Ptr<UniformRandomVariable> m_pick;            //!< which destination
    std::vector<uint32_t> m_receivers;            //!< GPUs of the cluster
    EventId m_next;                               //!< the next start
    uint64_t m_drawn{0};                          //!< flows that the interval has brought
    uint64_t m_started{0};                        //!< flows
    uint64_t m_finished{0};                       //!< flows
    uint32_t m_atOnce{0};                         //!< starts since time last went on

    TracedCallback<uint32_t, uint32_t, uint64_t, weir::Time, weir::Time>
        m_flowFinished; //!< FlowFinished trace source
};

} // namespace ns3

#endif // WEIR_MODEL_FLOW_SOURCE_H
