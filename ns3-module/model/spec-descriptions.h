// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_SPEC_DESCRIPTIONS_H
#define WEIR_MODEL_SPEC_DESCRIPTIONS_H

#include "parameter-attributes.h"

#include "fabric/transport/fluid/fluid-spec.h"
#include "fabric/transport/packet/packet-spec.h"

namespace ns3
{

/**
 * The corrections of the fluid model as attributes: every parameter of weir::CorrectionSpec. By
 * default there are no corrections.
 */
class CorrectionDescription : public SpecObject<weir::CorrectionSpec>
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
};

/**
 * The coupling of packets and a fluid on shared links as attributes: every parameter of
 * weir::CouplingSpec.
 */
class CouplingDescription : public SpecObject<weir::CouplingSpec>
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
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
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    PacketDescription();
};

} // namespace ns3

#endif // WEIR_MODEL_SPEC_DESCRIPTIONS_H
