// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_FLUID_FABRIC_H
#define WEIR_MODEL_FLUID_FABRIC_H

#include "engine-driver.h"

#include "fabric/fabric.h"
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
 * All the wires of a cluster at once, as a system of pipes: a flow is a stream through the links of
 * its path, and links share their rate among streams by weighted max-min fairness. Where it is
 * wired for packets, a flow is a message of a queue pair, cut into packets that pass ports, queues
 * and switches.
 *
 * Wire() gives it its topology (ClusterHelper does), then StartFlow() may be called at any time. As
 * a fluid a flow costs one event where it starts to share, one where it ends, whatever its size. On
 * packets, FabricNetDevices may be attached to its NICs, for ns-3's own applications.
 *
 * Flows of training jobs and collectives on this fabric share it with those of StartFlow, and show
 * up in the same trace sources.
 */
class FluidFabric : public Object, private weir::FlowClient, private weir::TransportObserver
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FluidFabric();
    ~FluidFabric() override;

    static constexpr double MIN_SCALE = 1e-9; //!< of a link's rate
    static constexpr double MAX_SCALE = 1e9;  //!< of a link's rate

    /** What StartFlow calls when the last byte has passed: the flow's number. */
    using FlowCallback = Callback<void, uint64_t>;

    /**
     * Builds the topology; once.
     * @param spec the cluster; what cannot be wired ends the program with the reason
     * @param transport how flows move; its corrections are those of the attribute
     */
    void Wire(const weir::ClusterSpec& spec, weir::TransportSpec transport = {});

    /**
     * Starts a flow between two GPUs, counted node by node, over the path that the fabric's
     * routing finds. Each flow has a source port of its own, so ECMP spreads them.
     * @param source the sending GPU
     * @param destination the receiving GPU
     * @param bytes what crosses the wire, less than 2^63
     * @param done called at the end; it may start flows, and installs jobs by
     *        Simulator::ScheduleNow
     * @param form what it moves as in a hybrid
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
     * @param bytes what crosses the wire
     * @param done called at the end
     * @param form what it moves as in a hybrid
     * @return the flow's number
     */
    uint64_t StartFlowBetween(const std::string& source,
                              const std::string& destination,
                              uint64_t bytes,
                              FlowCallback done = FlowCallback(),
                              weir::FlowForm form = weir::FlowForm::Fluid);

    /**
     * Gives both directions of the wires between two devices another rate: a part of their own.
     * @param a name of a device
     * @param b name of another, joined to it
     * @param factor new rate over own rate, MIN_SCALE to MAX_SCALE; 0 takes them down, as SetLinkUp
     */
    void ScaleLinkRate(const std::string& a, const std::string& b, double factor);

    /**
     * Lets both directions of the wires between two devices of the network lose packets. A fluid
     * loses nothing: an error where the fabric has no packets.
     * @param a name of a device
     * @param b name of another, joined to it
     * @param part of all packets from now on, each by chance: 0 to below 1
     */
    void SetLinkLoss(const std::string& a, const std::string& b, double part);

    /**
     * Takes the wires between two devices down, or brings them up at the rate that they had. Flows
     * on wires that are down are rerouted; those to which no path is left wait for one.
     * @param a name of a device
     * @param b name of another, joined to it
     * @param up whether they are up
     */
    void SetLinkUp(const std::string& a, const std::string& b, bool up);

    /**
     * Takes all wires of a device down at once, or brings them up: a switch or a NIC that fails.
     * @param name name of the device
     * @param up whether they are up
     */
    void SetDeviceUp(const std::string& name, bool up);

    /**
     * Which flows wait for a link to come up, and which ports for each other.
     * @return a line a flow: its bytes, its ends and the link; a line for a deadlock of packets:
     * the ports of the cycle; empty when none waits
     */
    std::string DescribeWaiting();

    /**
     * The link from one device to another: of several side by side the first.
     * @param from name of the device it leaves
     * @param to name of the device it ends at
     * @return its number, as GetLinkUsage and the trace source LinkRate have it
     */
    uint32_t FindLink(const std::string& from, const std::string& to);

    /**
     * What a link is called.
     * @param link number of the link in the topology
     * @return the name, e.g. "node0/nic3->leaf3"
     */
    std::string GetLinkName(uint32_t link);

    /**
     * The most a link carries when nothing has scaled it.
     * @param link number of the link in the topology
     * @return its rate of payload
     */
    weir::Rate GetLinkCapacity(uint32_t link);

    /**
     * What a link has carried so far.
     * @param link number of the link in the topology
     * @return bytes, time with traffic, time saturated
     */
    weir::LinkUsage GetLinkUsage(uint32_t link);

    /**
     * The port at the beginning of a link, where packets wait for it. Ends the program when flows
     * are a fluid.
     * @param link number of the link in the topology
     * @return the port, whose trace sources tell of what happens from now on
     */
    Ptr<FabricPort> GetPort(uint32_t link);

    /**
     * What moves packets. Ends the program when flows are a fluid.
     * @return the transport; calls on it are framed by the driver's Synchronize and Update
     */
    weir::PacketTransport& GetPackets();

    /**
     * The rate of a flow: what it has of its links, or what its congestion control allows it.
     * @param flow the flow's number
     * @return the rate; zero when it has ended
     */
    weir::Rate GetFlowRate(uint64_t flow);

    /**
     * Flows under way, those in their start-up delay included.
     * @return the count
     */
    std::size_t GetActiveFlows();

    /**
     * The plain fabric: topology, paths, router, transport. Calls on its transport are framed by
     * the driver's Synchronize and Update.
     * @return the fabric
     */
    weir::Fabric& GetFabric();

    /**
     * How flows move.
     * @return the values that the fabric was wired with
     */
    const weir::TransportSpec& GetTransportSpec() const;

    /**
     * What keeps this fabric and the jobs on it at the simulator's time.
     * @return the driver
     */
    Ptr<EngineDriver> GetDriver() const;

    /**
     * TracedCallback signature of FlowStarted.
     * @param flow the flow's number
     * @param request what was asked for
     * @param now exact time
     */
    typedef void (*FlowStartedTracedCallback)(uint64_t flow,
                                              const weir::FlowRequest& request,
                                              weir::Time now);

    /**
     * TracedCallback signature of FlowFinished.
     * @param flow the flow's number
     * @param request what was asked for
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
     * @param rate all flows on it together
     * @param now exact time
     */
    typedef void (*LinkRateTracedCallback)(uint32_t link, weir::Rate rate, weir::Time now);

  protected:
    void DoDispose() override;

  private:
    void OnFlowDone(uint64_t token, weir::Time now) override;
    void OnFlowStarted(weir::FlowId id, const weir::FlowRequest& request, weir::Time now) override;
    void OnFlowFinished(weir::FlowId id,
                        const weir::FlowRequest& request,
                        weir::Time started,
                        weir::Time now) override;
    void OnLinkRate(weir::LinkId link, weir::Rate rate, weir::Time now) override;

    /**
     * Starts a flow over the path from one device to another.
     * @param from the sending device
     * @param to the receiving device
     * @param bytes what crosses the wire
     * @param done called at the end
     * @return the flow's number
     */
    uint64_t StartFlow(weir::DeviceId from,
                       weir::DeviceId to,
                       uint64_t bytes,
                       const FlowCallback& done,
                       weir::FlowForm form);

    /**
     * The device of that name; ends the program when there is none.
     * @param name the name
     * @return the device
     */
    weir::DeviceId FindDevice(const std::string& name);

    /**
     * The links between two devices, both ways; ends the program when there are none.
     * @param a name of a device
     * @param b name of another
     * @return the links
     */
    std::vector<weir::LinkId> FindLinks(const std::string& a, const std::string& b);

    /**
     * Takes links down, or brings them up.
     * @param links the links
     * @param up whether they are up
     */
    void SetLinksUp(const std::vector<weir::LinkId>& links, bool up);

    /**
     * The link of that number; ends the program when there is none.
     * @param link the number
     * @return the link
     */
    weir::LinkId CheckLink(uint32_t link);

    /**
     * Asks the transport for link rates if a trace source is connected to them. Connections may
     * change at any time: looked at whenever a flow starts.
     */
    void Observe();

    std::unique_ptr<weir::Fabric> m_fabric;      //!< topology and transport
    weir::TransportSpec m_transport;             //!< how flows move
    Ptr<CorrectionDescription> m_corrections;    //!< of a fluid; null: none
    Ptr<EngineDriver> m_driver;                  //!< keeps it at the simulator's time
    bool m_linkRates{false};                     //!< whether the transport reports link rates
    uint16_t m_nextPort{0};                      //!< source port of the next flow
    std::vector<FlowCallback> m_callbacks;       //!< by token; free slots are reused
    std::vector<uint32_t> m_freeSlots;           //!< of m_callbacks
    std::vector<uint64_t> m_flows;               //!< by token: the flow's number
    std::map<uint32_t, Ptr<FabricPort>> m_ports; //!< by link, those that were asked for

    TracedCallback<uint64_t, const weir::FlowRequest&, weir::Time>
        m_flowStarted; //!< FlowStarted trace source
    TracedCallback<uint64_t, const weir::FlowRequest&, weir::Time, weir::Time>
        m_flowFinished;                                          //!< FlowFinished trace source
    TracedCallback<uint32_t, weir::Rate, weir::Time> m_linkRate; //!< LinkRate trace source
};

} // namespace ns3

#endif // WEIR_MODEL_FLUID_FABRIC_H
