// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/make-transport.h"

#include "fabric/transport/corrected/corrected-transport.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/hybrid/hybrid-transport.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/replay-transport.h"

#include <utility>

namespace weir
{

std::unique_ptr<Transport>
MakeTransport(Routing& routing,
              std::optional<PacketSpec> packets,
              std::optional<CouplingSpec> coupling,
              const SharingSpec& sharing,
              const CorrectionSpec& corrections)
{
    if (coupling)
    {
        return std::make_unique<HybridTransport>(
            routing, HybridSpec{packets.value_or(PacketSpec()), std::move(*coupling), sharing});
    }
    if (packets && packets->settle.IsOn())
    {
        return std::make_unique<ReplayTransport>(routing, std::move(*packets));
    }
    if (packets)
    {
        return std::make_unique<PacketTransport>(routing, std::move(*packets));
    }
    if (corrections.IsOn())
    {
        return std::make_unique<CorrectedTransport>(routing, corrections, sharing);
    }
    return std::make_unique<FluidTransport>(routing, sharing);
}

} // namespace weir
