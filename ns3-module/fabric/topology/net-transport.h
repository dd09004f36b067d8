// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_NET_TRANSPORT_H
#define WEIR_FABRIC_NET_TRANSPORT_H

#include "fabric/topology/cluster-spec.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The properties of a network transport. */
struct NetTransportTraits
{
    NetTransport transport;
    const char* name;            //!< name in system files
    double (*framing)(uint32_t); //!< payload fraction for an MTU in bytes
    bool isRdma;                 //!< its MTU is a power of two from 256 to 4096
    uint32_t minMtu;
    uint32_t maxMtu;
};

/** All transports, in the order of the enumeration. */
const std::vector<NetTransportTraits>& NetTransports();

/**
 * The properties of @p transport.
 * @throws std::invalid_argument for a value that is not a transport.
 */
const NetTransportTraits& TraitsOf(NetTransport transport);

} // namespace weir

#endif // WEIR_FABRIC_NET_TRANSPORT_H
