// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_MAKE_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_MAKE_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/transport/transport-spec.h"
#include "fabric/transport/transport.h"

#include <memory>

namespace weir
{

/**
 * What moves bytes over @p routing, which must outlive it.
 * @throws std::invalid_argument as PacketTransport and HybridTransport.
 */
std::unique_ptr<Transport> MakeTransport(Routing& routing, TransportSpec spec);

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_MAKE_TRANSPORT_H
