// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/link-profile.h"

#include "fabric/refuse.h"

#include <stdexcept>

namespace weir
{
namespace
{

void
CheckEfficiency(double value, const std::string& field)
{
    WEIR_REFUSE_IF(!(value > 0 && value <= 1),
                   field << ": " << std::to_string(value)
                         << ", expected more than 0 and at most 1");
}

double
Share(uint32_t payload, uint32_t overhead)
{
    return static_cast<double>(payload) / (static_cast<double>(payload) + overhead);
}

void
CheckGeneration(const char* function, uint32_t generation)
{
    WEIR_REFUSE_IF(generation < 1 || generation > 6,
                   function << ": PCIe generation " << generation << ", expected 1 to 6");
}

void
CheckMtu(const char* function, uint32_t mtu)
{
    // The path MTUs of the InfiniBand architecture (volume 1, section 9), which RoCE uses too.
    WEIR_REFUSE_IF(mtu != 256 && mtu != 512 && mtu != 1024 && mtu != 2048 && mtu != 4096,
                   function << ": MTU " << mtu << ", expected 256, 512, 1024, 2048 or 4096");
}

void
CheckMtuRange(const char* function, uint32_t mtu, uint32_t min)
{
    constexpr uint32_t LARGEST_FRAME = 9216; // jumbo frame size of common switches
    WEIR_REFUSE_IF(mtu < min || mtu > LARGEST_FRAME,
                   function << ": MTU " << mtu << ", expected " << min << " to " << LARGEST_FRAME);
}

constexpr uint32_t ETHERNET = 14 + 4;     // IEEE 802.3: header, frame check sequence
constexpr uint32_t PREAMBLE_GAP = 8 + 12; // IEEE 802.3: preamble with delimiter, gap

} // namespace

void
CheckProfile(const LinkProfile& profile, const std::string& field)
{
    WEIR_REFUSE_IF(!(profile.rawRate > Rate()) || profile.rawRate.IsInfinite(),
                   field << ".rawRate: " << std::to_string(profile.rawRate.ToGBps())
                         << " GB/s, expected a positive rate");
    CheckEfficiency(profile.encoding, field + ".encoding");
    CheckEfficiency(profile.framing, field + ".framing");
    CheckEfficiency(profile.measured, field + ".measured");
    WEIR_REFUSE_IF(profile.latency < Time() || profile.latency.IsInfinite(),
                   field << ".latency: expected a finite time, zero or more");
}

double
NvLinkFraming(uint32_t headerFlits)
{
    // Foley and Danskin, "Ultra-Performance Pascal GPU and NVLink Interconnect", IEEE Micro 37(2),
    // 2017: packets are 1 to 18 flits of 128 bits, 16 of them data at most.
    constexpr uint32_t FLIT = 16;
    constexpr uint32_t MAX_DATA = 256;
    return Share(MAX_DATA, FLIT * headerFlits);
}

double
PcieFraming(uint32_t maxPayload)
{
    const bool powerOfTwo = (maxPayload & (maxPayload - 1)) == 0;
    WEIR_REFUSE_IF(maxPayload < 128 || maxPayload > 4096 || !powerOfTwo,
                   "PcieFraming: maximum payload " << maxPayload
                                                   << ", expected a power of two from 128 to 4096");
    // PCI Express Base Specification 3.0, sections 2.2.1 (a write with a 64-bit address has a
    // header of four double words), 3.6.2 (link CRC), 4.2.2.2 (start-of-TLP token with the
    // sequence number).
    constexpr uint32_t HEADER = 16;
    constexpr uint32_t LINK_CRC = 4;
    constexpr uint32_t START_TOKEN = 4;
    // Sections 3.4 and 4.2.2.2: a DLLP is a 2-byte start token, 4 bytes and a 2-byte CRC. With both
    // directions equally loaded, each TLP in one direction causes an Ack and a credit update in the
    // other (receivers may merge some of them, so this is an upper bound).
    constexpr uint32_t DLLP = 8;
    constexpr uint32_t DLLPS_PER_TLP = 2;
    return Share(maxPayload, HEADER + LINK_CRC + START_TOKEN + DLLPS_PER_TLP * DLLP);
}

double
RoceFraming(uint32_t mtu)
{
    CheckMtu("RoceFraming", mtu);
    constexpr uint32_t IP_UDP = 20 + 8;   // RFC 791, RFC 768
    constexpr uint32_t BTH_ICRC = 12 + 4; // InfiniBand architecture, annex A17 (RoCEv2)
    return Share(mtu, ETHERNET + PREAMBLE_GAP + IP_UDP + BTH_ICRC);
}

double
InfinibandFraming(uint32_t mtu)
{
    CheckMtu("InfinibandFraming", mtu);
    constexpr uint32_t LRH = 8;     // InfiniBand architecture, volume 1, section 7.7
    constexpr uint32_t BTH = 12;    // section 9.2
    constexpr uint32_t CRC = 4 + 2; // section 7.8: invariant and variant CRC
    return Share(mtu, LRH + BTH + CRC);
}

double
SlingshotFraming(uint32_t mtu)
{
    CheckMtu("SlingshotFraming", mtu);
    // De Sensi et al., "An In-Depth Analysis of the Slingshot Interconnect", SC 2020, section II:
    // no inter-packet gap and smaller frames than IEEE 802.3. The header of Cassini's transport is
    // not published: 32 bytes is an estimate.
    constexpr uint32_t TRANSPORT = 32;
    return Share(mtu, ETHERNET + TRANSPORT);
}

double
EfaFraming(uint32_t mtu)
{
    constexpr uint32_t MIN_MTU = 256;
    CheckMtuRange("EfaFraming", mtu, MIN_MTU);
    // Shalev et al., "A Cloud-Optimized Transport Protocol for Elastic and Scalable HPC", IEEE
    // Micro 40(6), 2020: datagrams over IP and UDP. The header of the transport is not published:
    // 32 bytes is an estimate.
    constexpr uint32_t IP_UDP = 20 + 8;
    constexpr uint32_t TRANSPORT = 32;
    return Share(mtu, ETHERNET + PREAMBLE_GAP + IP_UDP + TRANSPORT);
}

double
TcpFraming(uint32_t mtu)
{
    constexpr uint32_t MIN_MTU = 576; // RFC 791: every host accepts this
    CheckMtuRange("TcpFraming", mtu, MIN_MTU);
    constexpr uint32_t IP_TCP = 20 + 20 + 12; // RFC 791, RFC 9293, time stamps of RFC 7323
    return Share(mtu - IP_TCP, IP_TCP + ETHERNET + PREAMBLE_GAP);
}

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

Rate
PcieRawRate(uint32_t generation, uint32_t lanes)
{
    CheckGeneration("PcieRawRate", generation);
    WEIR_REFUSE_IF(lanes == 0, "PcieRawRate: a link has at least one lane");
    // PCI Express Base Specification 6.0, section 1.2: GT/s per lane, one bit each per transfer
    // (generation 6 sends two bits at half the symbol rate).
    constexpr double GIGATRANSFERS[] = {2.5, 5, 8, 16, 32, 64};
    return Rate::Gbps(GIGATRANSFERS[generation - 1] * lanes);
}

double
PcieEncoding(uint32_t generation)
{
    CheckGeneration("PcieEncoding", generation);
    if (generation <= 2)
    {
        return 8.0 / 10;
    }
    if (generation <= 5)
    {
        return 128.0 / 130;
    }
    return 236.0 / 256;
}

} // namespace weir
