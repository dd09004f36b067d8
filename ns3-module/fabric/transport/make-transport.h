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

/** Selects the transport model of a fabric. */
struct TransportSpec
{
    std::optional<PacketSpec> packets{};    //!< packet model; empty: fluid
    std::optional<CouplingSpec> coupling{}; //!< hybrid: some flows as packets, the others as a
                                            //!< fluid
    SharingSpec sharing{};                  //!< how fluid flows share links
    CorrectionSpec corrections{};           //!< corrections of the fluid model
};

/**
 * Creates the transport of @p spec over @p routing, which must outlive it.
 * @throws std::invalid_argument as PacketTransport and HybridTransport.
 */
std::unique_ptr<Transport> MakeTransport(Routing& routing, TransportSpec spec);

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_MAKE_TRANSPORT_H
