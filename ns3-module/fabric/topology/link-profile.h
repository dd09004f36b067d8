// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LINK_PROFILE_H
#define WEIR_FABRIC_LINK_PROFILE_H

#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * The performance of one direction of a link: raw rate, payload fraction, and latency.
 *
 * Payload rate = rawRate x encoding x framing x measured, where
 *  - encoding: line code (PCIe 3+ 128b/130b; NVLink, IB and Ethernet rates are quoted after it: 1);
 *  - framing: payload / (payload + headers) of the largest packet, derived by the functions below;
 *  - measured: the remaining efficiency, a calibration value of the system (1: none).
 */
struct LinkProfile
{
    std::string name;   //!< e.g. "nvlink4", "pcie5-x16", "ndr400"
    Rate rawRate;       //!< as on the datasheet, one direction
    double encoding{1}; //!< in (0, 1]
    double framing{1};  //!< in (0, 1]
    double measured{1}; //!< in (0, 1], a calibration value
    Time latency;       //!< propagation and the fixed delay at the receiving device
    std::string source; //!< source of the figures
    Rate ncclRate{};    //!< rate in NCCL's topology; zero: derived from its kind

    Rate PayloadRate() const
    {
        return rawRate * (encoding * framing * measured);
    }
};

/**
 * Payload fraction of NVLink: packets of 16-byte flits, one header flit (plus one address-extension
 * flit) for up to 256 bytes of data.
 * @return 256 / (256 + 16 * headerFlits).
 */
double NvLinkFraming(uint32_t headerFlits = 2);

/**
 * Payload fraction of PCIe memory writes with both directions equally loaded. Per TLP: a header of
 * 16 bytes (64-bit address), 4 of link CRC, 4 of start token with sequence number, and two DLLPs of
 * 8 bytes (the Ack and the credit update for a TLP of the other direction).
 * @param maxPayload MPS in bytes: a power of two from 128 to 4096 (typical: 256 or 512).
 * @return payload / (payload + 40).
 * @throws std::invalid_argument on another size.
 */
double PcieFraming(uint32_t maxPayload);

/**
 * Payload fraction of RoCEv2. Bytes: Ethernet 14 + 4, preamble and gap 20, IPv4 20, UDP 8, BTH 12,
 * ICRC 4.
 * @param mtu payload in bytes: 256, 512, 1024, 2048 or 4096.
 * @return mtu / (mtu + 82).
 * @throws std::invalid_argument on another size.
 */
double RoceFraming(uint32_t mtu);

/**
 * Payload fraction of InfiniBand. Bytes: LRH 8, BTH 12, ICRC 4, VCRC 2 (RETH, 16, is on a message's
 * first packet only).
 * @param mtu payload in bytes: 256, 512, 1024, 2048 or 4096.
 * @return mtu / (mtu + 26).
 * @throws std::invalid_argument on another size.
 */
double InfinibandFraming(uint32_t mtu);

/**
 * Payload fraction of HPE Slingshot's HPC Ethernet. Bytes: header 14 and frame check 4 without
 * preamble and gap, and 32 of transport header.
 * @param mtu payload in bytes: 256, 512, 1024, 2048 or 4096.
 * @return mtu / (mtu + 50).
 * @throws std::invalid_argument on another size.
 */
double SlingshotFraming(uint32_t mtu);

/**
 * Payload fraction of AWS EFA (scalable reliable datagrams). Bytes: Ethernet 14 + 4, preamble and
 * gap 20, IPv4 20, UDP 8 and 32 of transport header.
 * @param mtu payload in bytes, 256 to 9216 (typical: 8760).
 * @return mtu / (mtu + 98).
 * @throws std::invalid_argument on another size.
 */
double EfaFraming(uint32_t mtu);

/**
 * Payload fraction of TCP. Bytes: Ethernet 14 + 4, preamble and gap 20 around an IPv4 packet of @p
 * mtu with headers of 20, 20 and 12 for the timestamp option.
 * @param mtu of the IP packet in bytes, 576 to 9216 (typical: 1500 or 9000).
 * @return (mtu - 52) / (mtu + 38).
 * @throws std::invalid_argument on another size.
 */
double TcpFraming(uint32_t mtu);

/** The network transport between nodes, which determines the packet headers. */
enum class NetTransport : uint8_t
{
    Infiniband,
    Roce,
    Slingshot,
    Efa,
    Tcp
};

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

/**
 * The raw rate of a PCIe link: 2.5, 5, 8, 16, 32, 64 GT/s per lane for generations 1 to 6, times @p
 * lanes.
 * @throws std::invalid_argument on another generation or without lanes.
 */
Rate PcieRawRate(uint32_t generation, uint32_t lanes);

/**
 * The efficiency of the line code of a PCIe generation: 8b/10b for 1 and 2, 128b/130b for 3 to 5,
 * 236/256 (FLIT with FEC and CRC) for 6.
 * @throws std::invalid_argument on another generation.
 */
double PcieEncoding(uint32_t generation);

/**
 * Checks that @p profile has a positive finite rate, each efficiency in (0, 1], and a finite,
 * non-negative latency.
 * @param field name in the message, e.g. "node.nvlink".
 * @throws std::invalid_argument
 */
void CheckProfile(const LinkProfile& profile, const std::string& field);

} // namespace weir

#endif // WEIR_FABRIC_LINK_PROFILE_H
