// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_MAKE_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_MAKE_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/sharing/sharing-spec.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/hybrid/coupling-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/transport/transport.h"

#include <memory>
#include <optional>

namespace weir
{

/**
 * What moves bytes over @p routing, which must outlive it: as @p packets say; nothing: as a fluid;
 * with a @p coupling some as packets, the rest as a fluid, which shares links by @p sharing.
 * @p corrections are of a fluid alone.
 * @throws std::invalid_argument as PacketTransport and HybridTransport.
 */
std::unique_ptr<Transport> MakeTransport(Routing& routing,
                                         std::optional<PacketSpec> packets,
                                         std::optional<CouplingSpec> coupling = {},
                                         const SharingSpec& sharing = {},
                                         const CorrectionSpec& corrections = {});

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_MAKE_TRANSPORT_H
