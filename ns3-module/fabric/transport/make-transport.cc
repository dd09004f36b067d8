// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/make-transport.h"

#include "fabric/transport/corrected/corrected-transport.h"
#include "fabric/transport/hybrid/hybrid-transport.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/replay-transport.h"

#include <utility>

namespace weir
{

std::unique_ptr<Transport>
MakeTransport(Routing& routing, TransportSpec spec)
{
    std::optional<PacketSpec>& packets = spec.packets;
    if (spec.coupling)
    {
        return std::make_unique<HybridTransport>(routing,
                                                 HybridSpec{packets.value_or(PacketSpec()),
                                                            std::move(*spec.coupling),
                                                            spec.sharing,
                                                            spec.corrections});
    }
    if (packets && packets->settle.IsOn())
    {
        return std::make_unique<ReplayTransport>(routing, std::move(*packets));
    }
    if (packets)
    {
        return std::make_unique<PacketTransport>(routing, std::move(*packets));
    }
    return MakeFluidTransport(routing, spec.corrections, spec.sharing);
}

} // namespace weir
