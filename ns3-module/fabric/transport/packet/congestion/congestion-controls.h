// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROLS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROLS_H

#include "fabric/parameters/registry.h"
#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

using CongestionControlRegistry = Registry<CongestionControl>;

/** The registry of all congestion controls. */
CongestionControlRegistry CongestionControls();

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROLS_H
