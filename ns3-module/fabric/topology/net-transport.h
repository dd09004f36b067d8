// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_NET_TRANSPORT_H
#define WEIR_FABRIC_NET_TRANSPORT_H

#include "fabric/topology/cluster-spec.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** What distinguishes one network transport from another. */
struct NetTransportTraits
{
    NetTransport transport;
    const char* name;            //!< in system files
    double (*framing)(uint32_t); //!< payload over all, for an MTU
    bool isRdma;                 //!< its MTU is a power of two from 256 to 4096
    uint32_t minMtu;
    uint32_t maxMtu;
};

/** All transports, in the order of their values. */
const std::vector<NetTransportTraits>& NetTransports();

/** Those of one. */
const NetTransportTraits& TraitsOf(NetTransport transport);

} // namespace weir

#endif // WEIR_FABRIC_NET_TRANSPORT_H
