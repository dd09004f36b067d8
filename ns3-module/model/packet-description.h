// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_PACKET_DESCRIPTION_H
#define WEIR_MODEL_PACKET_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/transport/packet/packet-spec.h"

#include <vector>

namespace ns3
{

/**
 * Packets, queue pairs, switches and links inside nodes as attributes: every parameter of
 * weir::PacketSpec but those of the congestion control (CongestionControlDescription). Unlike there
 * there are two classes of data by default: one of flows, and a lossy one of FabricNetDevices.
 */
class PacketDescription : public ParameterizedObject
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    PacketDescription();

    /**
     * Takes all values from plain ones; attributes set later change single ones.
     * @param spec the values
     */
    void SetSpec(const weir::PacketSpec& spec);

    /**
     * The values, with the congestion control of SetSpec.
     * @return the values
     */
    weir::PacketSpec GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    weir::PacketSpec m_spec; //!< the values
};

} // namespace ns3

#endif // WEIR_MODEL_PACKET_DESCRIPTION_H
