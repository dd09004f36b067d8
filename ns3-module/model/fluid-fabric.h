// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_FLUID_FABRIC_H
#define WEIR_MODEL_FLUID_FABRIC_H

#include "engine-driver.h"

#include "fabric/fabric.h"
#include "fabric/slot-pool.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/transport.h"
#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class CorrectionDescription;
class FabricPort;

/**
 * The network of a whole cluster, as a system of pipes: a flow is a stream through the links of its
 * path, and links share their rate among streams by weighted max-min fairness. If the fabric is
 * wired for packets, a flow is a message of a queue pair, segmented into packets that pass ports,
 * queues and switches.
 *
 * Wire() builds the topology (ClusterHelper calls it). After that StartFlow() may be called at any
 * time. A fluid flow costs one event when it starts to share links and one when it ends, whatever
 * its size. With packets, FabricNetDevices may be attached to NICs, for stock ns-3 applications.
 *
 * Flows of training jobs and collectives on this fabric share links with those of StartFlow and
 * appear in the same trace sources.
 */
class FluidFabric : public Object, private weir::FlowClient, private weir::TransportObserver
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    FluidFabric();
    ~FluidFabric() override;

    static constexpr double MIN_SCALE = 1e-9; //!< minimum factor of a link's rate
    static constexpr double MAX_SCALE = 1e9;  //!< maximum factor of a link's rate

    /** Callback of StartFlow, called with the flow's number when the last byte has passed. */
    using FlowCallback = Callback<void, uint64_t>;

    /**
     * Builds the topology. May be called only once. Aborts with the reason if @p spec cannot be
     * wired.
     * @param transport how flows move; its corrections are replaced by those of the attribute
     */
    void Wire(const weir::ClusterSpec& spec, weir::TransportSpec transport = {});

    /**
     * Starts a flow between two GPUs over the path that the fabric's routing finds. Each flow has
     * its own source port, so ECMP spreads the flows.
     * @param source the sending GPU, numbered node by node
     * @param destination the receiving GPU
     * @param bytes bytes on the wire, less than 2^63
     * @param done called at the end. It may start flows; it installs jobs through
     *        Simulator::ScheduleNow
     * @param form whether the flow is fluid or packets in a hybrid
     * @return the flow's number
     */
    uint64_t StartFlow(uint32_t source,
                       uint32_t destination,
                       uint64_t bytes,
                       FlowCallback done = FlowCallback(),
                       weir::FlowForm form = weir::FlowForm::Fluid);

    /**
     * As StartFlow, between any two devices.
     * @param source name of the sending device, e.g. "node0/nic3"
     * @param destination name of the receiving device
     * @param bytes bytes on the wire
     * @param done called at the end
     * @param form whether the flow is fluid or packets in a hybrid
     * @return the flow's number
     */
    uint64_t StartFlowBetween(const std::string& source,
                              const std::string& destination,
                              uint64_t bytes,
                              FlowCallback done = FlowCallback(),
                              weir::FlowForm form = weir::FlowForm::Fluid);

    /**
     * Scales the rate of the wires between two devices, in both directions.
     * @param a name of a device
     * @param b name of another device, connected to it
     * @param factor new rate / original rate, MIN_SCALE to MAX_SCALE; 0 takes the wires down, as
     *        SetLinkUp does
     */
    void ScaleLinkRate(const std::string& a, const std::string& b, double factor);

    /**
     * Sets the packet loss rate of the wires between two devices of the network, in both
     * directions. Aborts if the fabric has no packets, as a fluid has no losses.
     * @param a name of a device
     * @param b name of another device, connected to it
     * @param part probability of the loss of each packet from now on: 0 to below 1
     */
    void SetLinkLoss(const std::string& a, const std::string& b, double part);

    /**
     * Takes the wires between two devices down, or brings them up at their former rate. Flows on
     * wires that are down are rerouted; flows without another path stall until a path is up.
     * @param a name of a device
     * @param b name of another device, connected to it
     * @param up whether the wires are up
     */
    void SetLinkUp(const std::string& a, const std::string& b, bool up);

    /**
     * Takes all wires of a device down or brings them up: a switch or a NIC that fails.
     * @param up whether the wires are up
     */
    void SetDeviceUp(const std::string& name, bool up);

    /**
     * Describes the flows that are stalled on a link that is down, and a deadlock of ports.
     * @return one line per stalled flow: its bytes, its end points and the link; one line for a
     *         deadlock of packets: the ports of the cycle; empty if there are none
     */
    std::string DescribeWaiting();

    /**
     * The link from one device to another; the first one if there are parallel links.
     * @param from name of the sending device
     * @param to name of the receiving device
     * @return its number, as used by GetLinkUsage and the trace source LinkRate
     */
    uint32_t FindLink(const std::string& from, const std::string& to);

    /**
     * The name of a link.
     * @param link number of the link in the topology
     * @return the name, e.g. "node0/nic3->leaf3"
     */
    std::string GetLinkName(uint32_t link);

    /**
     * The unscaled payload rate of a link.
     * @param link number of the link in the topology
     */
    weir::Rate GetLinkCapacity(uint32_t link);

    /**
     * The traffic of a link so far.
     * @param link number of the link in the topology
     * @return bytes, time with traffic, time saturated
     */
    weir::LinkUsage GetLinkUsage(uint32_t link);

    /**
     * The port at the start of a link, where packets are queued for it. Aborts if flows are fluid.
     * @param link number of the link in the topology
     * @return the port, whose trace sources report events from now on
     */
    Ptr<FabricPort> GetPort(uint32_t link);

    /**
     * The packet transport. Aborts if flows are fluid.
     * @return the transport; calls on it must be framed by the driver's Synchronize and Update
     */
    weir::PacketTransport& GetPackets();

    /**
     * The rate of a flow: its share of its links, or the rate that its congestion control allows.
     * @param flow the flow's number
     * @return the rate; zero after its end
     */
    weir::Rate GetFlowRate(uint64_t flow);

    /** The number of active flows, including those in their start-up delay. */
    std::size_t GetActiveFlows()
    {
        return GetFabric().GetTransport().ActiveFlows();
    }

    /**
     * The plain fabric: topology, paths, router, transport. Calls on its transport must be framed
     * by the driver's Synchronize and Update.
     */
    weir::Fabric& GetFabric();

    /** How flows move. @return the parameters that the fabric was wired with */
    const weir::TransportSpec& GetTransportSpec() const
    {
        return m_transport;
    }

    /** The driver that keeps this fabric and the jobs on it at the simulator's time. */
    Ptr<EngineDriver> GetDriver() const
    {
        return m_driver;
    }

    /**
     * TracedCallback signature of FlowStarted.
     * @param flow the flow's number
     * @param request the request of the flow
     * @param now exact time
     */
    typedef void (*FlowStartedTracedCallback)(uint64_t flow,
                                              const weir::FlowRequest& request,
                                              weir::Time now);

    /**
     * TracedCallback signature of FlowFinished.
     * @param flow the flow's number
     * @param request the request of the flow
     * @param started exact time of its start
     * @param now exact time
     */
    typedef void (*FlowFinishedTracedCallback)(uint64_t flow,
                                               const weir::FlowRequest& request,
                                               weir::Time started,
                                               weir::Time now);

    /**
     * TracedCallback signature of LinkRate.
     * @param link number of the link in the topology
     * @param rate combined rate of all fluid flows on it
     * @param now exact time
     */
    typedef void (*LinkRateTracedCallback)(uint32_t link, weir::Rate rate, weir::Time now);

  protected:
    void DoDispose() override;

  private:
    /** A flow in progress. */
    struct Flow
    {
        FlowCallback done;  //!< called at its end
        uint64_t number{0}; //!< its number
    };

    void OnFlowDone(uint64_t token, weir::Time now) override;

    void OnFlowStarted(weir::FlowId id, const weir::FlowRequest& request, weir::Time now) override
    {
        m_flowStarted(id.value, request, now);
    }

    void OnFlowFinished(weir::FlowId id,
                        const weir::FlowRequest& request,
                        weir::Time started,
                        weir::Time now) override
    {
        m_flowFinished(id.value, request, started, now);
    }

    void OnLinkRate(weir::LinkId link, weir::Rate rate, weir::Time now) override
    {
        m_linkRate(link.Index(), rate, now);
    }

    /**
     * Starts a flow over the path from one device to another.
     * @param from the sending device
     * @param to the receiving device
     * @param bytes bytes on the wire
     * @param done called at the end
     * @param form whether the flow is fluid or packets in a hybrid
     * @return the flow's number
     */
    uint64_t StartFlow(weir::DeviceId from,
                       weir::DeviceId to,
                       uint64_t bytes,
                       const FlowCallback& done,
                       weir::FlowForm form);

    /** Finds a device by name; aborts if there is none. */
    weir::DeviceId FindDevice(const std::string& name);

    /**
     * The links between two devices in both directions; aborts if there are none.
     * @param a name of a device
     * @param b name of another device
     */
    std::vector<weir::LinkId> FindLinks(const std::string& a, const std::string& b);

    /**
     * Takes links down or brings them up.
     * @param up whether they are up
     */
    void SetLinksUp(const std::vector<weir::LinkId>& links, bool up);

    /** Checks a link number; aborts if there is no such link. */
    weir::LinkId CheckLink(uint32_t link);

    /**
     * Has the transport report link rates if a trace sink is connected to LinkRate. Connections may
     * change at any time, so this is checked before StartFlow starts a flow and before the engines
     * advance, as jobs start flows then.
     */
    void Observe();

    std::unique_ptr<weir::Fabric> m_fabric;      //!< topology and transport
    weir::TransportSpec m_transport;             //!< how flows move
    Ptr<CorrectionDescription> m_corrections;    //!< corrections of the fluid; null: none
    Ptr<EngineDriver> m_driver;                  //!< keeps the fabric at the simulator's time
    bool m_linkRates{false};                     //!< whether the transport reports link rates
    uint16_t m_nextPort{0};                      //!< source port of the next flow
    weir::SlotPool<std::vector<Flow>> m_flows;   //!< by token
    std::map<uint32_t, Ptr<FabricPort>> m_ports; //!< by link; created by GetPort

    TracedCallback<uint64_t, const weir::FlowRequest&, weir::Time>
        m_flowStarted; //!< FlowStarted trace source
    TracedCallback<uint64_t, const weir::FlowRequest&, weir::Time, weir::Time>
        m_flowFinished;                                          //!< FlowFinished trace source
    TracedCallback<uint32_t, weir::Rate, weir::Time> m_linkRate; //!< LinkRate trace source
};

} // namespace ns3

#endif // WEIR_MODEL_FLUID_FABRIC_H
