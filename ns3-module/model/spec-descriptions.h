// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_SPEC_DESCRIPTIONS_H
#define WEIR_MODEL_SPEC_DESCRIPTIONS_H

#include "parameter-attributes.h"

#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/hybrid/coupling-spec.h"
#include "fabric/transport/packet/packet-spec.h"

namespace ns3
{

/**
 * What corrects a fluid as attributes: every parameter of weir::CorrectionSpec. By default nothing
 * does.
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

/** How packets and a fluid share links as attributes: every parameter of weir::CouplingSpec. */
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
 * weir::PacketSpec but those of the congestion control (CongestionControlDescription), which is
 * that of SetSpec. Unlike there there are two classes of data by default: one of flows, and a lossy
 * one of FabricNetDevices.
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
