// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_SPEC_DESCRIPTIONS_H
#define WEIR_MODEL_SPEC_DESCRIPTIONS_H

#include "parameter-attributes.h"

#include "fabric/parameters/polymorphic.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/transport-spec.h"

#include <vector>

namespace ns3
{

/**
 * The inside of a server as attributes: the numbers of GPUs and NICs, and its NVLink, PCIe and
 * network links. By default an HGX H100 server with eight 400 Gb/s ports.
 *
 * All rates are those of one direction. An efficiency is the fraction of the rate that carries
 * payload.
 */
class ServerDescription : public ParameterizedObject, private weir::Parameterized
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    ServerDescription();

    /**
     * Sets all values; attributes that are set later change single values.
     * @param spec the server
     */
    void SetSpec(const weir::NodeSpec& spec);

    /** The server as plain values. */
    weir::NodeSpec GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    void VisitParameters(weir::ParameterVisitor& visitor) override;

    weir::NodeSpec m_spec; //!< the server
};

/**
 * The network between servers as attributes: its kind, its routing policy, and the parameters of
 * all kinds and policies. By default a rail-optimized Clos network without oversubscription, with
 * ECMP and links as those of the NICs. A network from a file is set by SetSpec.
 */
class NetworkDescription : public ParameterizedObject, private weir::Parameterized
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    NetworkDescription();

    /**
     * Sets all values; attributes that are set later change single values.
     * @param spec the network
     */
    void SetSpec(const weir::FabricSpec& spec);

    /** The network as plain values. */
    weir::FabricSpec GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    void VisitParameters(weir::ParameterVisitor& visitor) override;

    weir::FabricSpec m_spec;                        //!< except kind and routing
    ComponentChoice<weir::FabricKind> m_kind;       //!< the kind
    ComponentChoice<weir::RoutingPolicy> m_routing; //!< the routing policy
};

/**
 * The congestion control of packet flows as attributes: its kind and the parameters of all kinds. A
 * preset must be set before single values. Increase and Target, which are numbers, rates or times
 * depending on the kind, have one attribute per kind: SwiftIncrease, NsccTarget.
 */
class CongestionControlDescription : public ParameterizedObject
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    CongestionControlDescription();

    /** The congestion control as plain values. */
    weir::Polymorphic<weir::CongestionControl> GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    ComponentChoice<weir::CongestionControl> m_control; //!< the kind
};

/**
 * The corrections of the fluid model as attributes: every parameter of weir::CorrectionSpec. By
 * default there are no corrections.
 */
class CorrectionDescription : public SpecObject<weir::CorrectionSpec>
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();
};

/**
 * The coupling of packets and a fluid on shared links as attributes: every parameter of
 * weir::CouplingSpec.
 */
class CouplingDescription : public SpecObject<weir::CouplingSpec>
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();
};

/**
 * Packets, queue pairs, switches and links inside nodes as attributes: every parameter of
 * weir::PacketSpec except those of the congestion control (CongestionControlDescription), which
 * SetSpec sets. Unlike weir::PacketSpec it has two data traffic classes by default: one of flows,
 * and a lossy one of FabricNetDevices.
 */
class PacketDescription : public SpecObject<weir::PacketSpec>
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    PacketDescription();
};

} // namespace ns3

#endif // WEIR_MODEL_SPEC_DESCRIPTIONS_H
