// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_HELPER_CLUSTER_HELPER_H
#define WEIR_HELPER_CLUSTER_HELPER_H

#include "cluster-container.h"

#include "fabric/topology/cluster-spec.h"
#include "ns3/attribute.h"
#include "ns3/spec-descriptions.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * Builds a cluster: a fabric, and a Node for each server with its GPUs on it.
 *
 * The cluster is described by the attributes of ServerDescription and NetworkDescription, which
 * start from their defaults or from a weir::ClusterSpec (such as a system file gives). Flows move
 * as a fluid; as packets, with the attributes of PacketDescription and
 * CongestionControlDescription; or as a hybrid of both, coupled by CouplingDescription.
 * CorrectionDescription has the corrections of the fluid.
 */
class ClusterHelper
{
  public:
    /** Starts from the attributes' default values. */
    ClusterHelper();

    /** Starts from plain values. */
    explicit ClusterHelper(const weir::ClusterSpec& spec);

    /** Copies the values of another helper; later changes of one do not affect the other. */
    ClusterHelper(const ClusterHelper& other);

    /** Copies the values of another helper. @return this */
    ClusterHelper& operator=(const ClusterHelper& other);
    ClusterHelper& operator=(ClusterHelper&& other) = default;
    ~ClusterHelper() = default;

    /** Sets an attribute of ServerDescription. */
    void SetServerAttribute(const std::string& name, const AttributeValue& value);

    /** Sets an attribute of NetworkDescription. */
    void SetNetworkAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Sets how flows move. In a hybrid, jobs whose Fidelity is "packet", FlowSources whose Form is
     * "packet", the traffic of net devices, and flows over the links of SetPacketLinks are packets;
     * all other flows are a fluid on the same links.
     * @param transport "fluid" (the default), "packet" or "hybrid"
     */
    void SetTransport(const std::string& transport);

    /** Sets an attribute of CouplingDescription. */
    void SetCouplingAttribute(const std::string& name, const AttributeValue& value);

    /**
     * In a hybrid, makes all flows over some links packets.
     * @param links their names, such as "leaf0->spine1", in which * matches any text
     */
    void SetPacketLinks(const std::vector<std::string>& links)
    {
        m_packetLinks = links;
    }

    /** Sets an attribute of PacketDescription. */
    void SetPacketAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Sets the parameters of switches from a switch model, such as weir::ReadSwitch finds in the
     * catalog; attributes that are set later change single values.
     */
    void SetSwitch(const weir::SwitchSpec& spec);

    /**
     * Sets the kind of congestion control of packet flows.
     * @param kind its name, e.g. "dcqcn"
     */
    void SetCongestionControl(const std::string& kind);

    /** Sets an attribute of CongestionControlDescription. */
    void SetCongestionControlAttribute(const std::string& name, const AttributeValue& value);

    /** Sets the corrections of the fluid, such as weir::ReadCorrections finds in the catalog. */
    void SetCorrections(const weir::CorrectionSpec& spec);

    /** Sets an attribute of CorrectionDescription. */
    void SetCorrectionAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Builds a cluster. Aborts with the reason if it cannot be wired.
     * @return its fabric and nodes
     */
    ClusterContainer Install(uint32_t servers) const;

    /**
     * As Install, with the number of servers of the weir::ClusterSpec (1 without it).
     * @return its fabric and nodes
     */
    ClusterContainer Install() const;

  private:
    weir::ClusterSpec m_spec;                              //!< values without attributes
    Ptr<ServerDescription> m_server;                       //!< the inside of a server
    Ptr<NetworkDescription> m_network;                     //!< the network between servers
    Ptr<PacketDescription> m_packets;                      //!< packets, queue pairs, switches
    Ptr<CongestionControlDescription> m_congestionControl; //!< congestion control of flows
    Ptr<CorrectionDescription> m_corrections;              //!< corrections of the fluid
    Ptr<CouplingDescription> m_coupling;                   //!< coupling of packets and fluid
    std::vector<std::string> m_packetLinks;                //!< packet links in a hybrid
    std::string m_transport{"fluid"};                      //!< how flows move
};

} // namespace ns3

#endif // WEIR_HELPER_CLUSTER_HELPER_H
