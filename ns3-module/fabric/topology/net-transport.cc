// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/net-transport.h"

#include "fabric/topology/link-profile.h"

#include <stdexcept>

namespace weir
{

const std::vector<NetTransportTraits>&
NetTransports()
{
    static const std::vector<NetTransportTraits> ALL{
        {NetTransport::Infiniband, "infiniband", InfinibandFraming, true, 256, 4096},
        {NetTransport::Roce, "roce", RoceFraming, true, 256, 4096},
        {NetTransport::Slingshot, "slingshot", SlingshotFraming, true, 256, 4096},
        {NetTransport::Efa, "efa", EfaFraming, false, 256, 9216},
        {NetTransport::Tcp, "tcp", TcpFraming, false, 576, 9216}};
    return ALL;
}

const NetTransportTraits&
TraitsOf(NetTransport transport)
{
    for (const NetTransportTraits& traits : NetTransports())
    {
        if (traits.transport == transport)
        {
            return traits;
        }
    }
    throw std::invalid_argument("TraitsOf: unknown transport");
}

} // namespace weir
