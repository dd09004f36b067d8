// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_HELPER_CLUSTER_HELPER_H
#define WEIR_HELPER_CLUSTER_HELPER_H

#include "cluster-container.h"

#include "fabric/topology/cluster-spec.h"
#include "ns3/attribute.h"
#include "ns3/congestion-control-description.h"
#include "ns3/network-description.h"
#include "ns3/server-description.h"
#include "ns3/spec-descriptions.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * Builds a cluster: a fabric, and a Node for each server with its GPUs on it.
 *
 * What is built is described by the attributes of ServerDescription and NetworkDescription, or
 * starts from the plain values of a weir::ClusterSpec (such as a system file gives) of which
 * attributes then change single figures. Flows move as a fluid, or as packets with the attributes
 * of PacketDescription and CongestionControlDescription, or some as packets, the rest as a fluid,
 * coupled as CouplingDescription says. CorrectionDescription has what corrects the fluid.
 */
class ClusterHelper
{
  public:
    /** Starts from the attributes' default values. */
    ClusterHelper();

    /**
     * Starts from plain values.
     * @param spec the cluster
     */
    explicit ClusterHelper(const weir::ClusterSpec& spec);

    /**
     * A helper that goes on by itself from the values of another.
     * @param other the other
     */
    ClusterHelper(const ClusterHelper& other);

    /**
     * Takes the values of another helper.
     * @param other the other
     * @return this
     */
    ClusterHelper& operator=(const ClusterHelper& other);
    ~ClusterHelper() = default;

    /**
     * Sets an attribute of ServerDescription.
     * @param name of the attribute
     * @param value of the attribute
     */
    void SetServerAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Sets an attribute of NetworkDescription.
     * @param name of the attribute
     * @param value of the attribute
     */
    void SetNetworkAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Says how flows move. In a hybrid, jobs whose Fidelity is "packet" are packets, FlowSources
     * whose Form is "packet", what net devices send, and flows over the links of SetPacketLinks;
     * the rest is a fluid, on the same links.
     * @param transport "fluid" (the default), "packet" or "hybrid"
     */
    void SetTransport(const std::string& transport);

    /**
     * Sets an attribute of CouplingDescription.
     * @param name of the attribute
     * @param value of the attribute
     */
    void SetCouplingAttribute(const std::string& name, const AttributeValue& value);

    /**
     * In a hybrid all flows over some links are packets.
     * @param links their names, "leaf0->spine1", in which * stands for any text
     */
    void SetPacketLinks(const std::vector<std::string>& links);

    /**
     * Sets an attribute of PacketDescription.
     * @param name of the attribute
     * @param value of the attribute
     */
    void SetPacketAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Takes what switches do from a model, such as weir::ReadSwitch finds in the catalogue;
     * attributes set later change single values.
     * @param spec the model
     */
    void SetSwitch(const weir::SwitchSpec& spec);

    /**
     * Sets the kind of congestion control of flows that move as packets.
     * @param kind its name, e.g. "dcqcn"
     */
    void SetCongestionControl(const std::string& kind);

    /**
     * Sets an attribute of CongestionControlDescription.
     * @param name of the attribute
     * @param value of the attribute
     */
    void SetCongestionControlAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Takes what corrects the fluid from plain values, such as weir::ReadCorrections finds in the
     * catalogue.
     * @param spec the values
     */
    void SetCorrections(const weir::CorrectionSpec& spec);

    /**
     * Sets an attribute of CorrectionDescription.
     * @param name of the attribute
     * @param value of the attribute
     */
    void SetCorrectionAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Builds a cluster. What cannot be wired ends the program with the reason.
     * @param servers how many servers
     * @return its fabric and nodes
     */
    ClusterContainer Install(uint32_t servers) const;

    /**
     * As Install, with the number of servers of the plain values (1 without them).
     * @return its fabric and nodes
     */
    ClusterContainer Install() const;

  private:
    weir::ClusterSpec m_spec;                              //!< what has no attribute
    Ptr<ServerDescription> m_server;                       //!< the inside of a server
    Ptr<NetworkDescription> m_network;                     //!< what joins them
    Ptr<PacketDescription> m_packets;                      //!< packets, queue pairs, switches
    Ptr<CongestionControlDescription> m_congestionControl; //!< of flows
    Ptr<CorrectionDescription> m_corrections;              //!< of the fluid
    Ptr<CouplingDescription> m_coupling;                   //!< of packets and a fluid
    std::vector<std::string> m_packetLinks;                //!< in a hybrid
    std::string m_transport{"fluid"};                      //!< how flows move
};

} // namespace ns3

#endif // WEIR_HELPER_CLUSTER_HELPER_H
