// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/datagrams.h"

#include "fabric/refuse.h"

#include <string>

namespace weir
{

Datagrams::Datagrams(const PacketSpec& spec,
                     Routing& routing,
                     PacketPool& packets,
                     PacketNetwork& network,
                     std::function<uint32_t(PathId)> hopsOf,
                     bool& hasTold)
    : m_spec(spec),
      m_routing(routing),
      m_packets(packets),
      m_network(network),
      m_hopsOf(std::move(hopsOf)),
      m_hasTold(hasTold)
{
    network.SetDatagrams(*this, 0); // flows may use all classes until there are datagrams
}

void
Datagrams::Offer(LinkId link, unsigned trafficClass, int64_t now)
{
    WEIR_REFUSE_IF(trafficClass < FIRST_CLASS || trafficClass >= m_network.Classes(),
                   "Datagrams::Offer: found traffic class "
                       << trafficClass << ", expected one from " << FIRST_CLASS
                       << " to trafficClasses, which is " << m_network.Classes() - 1);
    WEIR_REFUSE_IF(m_spec.switches.classByHop,
                   "Datagrams::Offer: found datagrams where the classes of packets rise by hop "
                   "(switch.classByHop), expected only flows");
    m_network.SetDatagrams(*this, static_cast<uint8_t>(0xff << FIRST_CLASS));
    m_offers += m_network.HasSource(link.Index(), trafficClass) ? 0 : 1;
    m_network.SetSource(link.Index(), trafficClass, true, now);
}

uint32_t
Datagrams::HopsOfNextPath(RouteId route)
{
    if (route.Index() >= m_paths.size())
    {
        m_paths.resize(m_routing.Size());
    }
    Paths& paths = m_paths[route.Index()];
    if (paths.hops.empty())
    {
        const QueuePairSpec& pair = m_spec.queuePair;
        for (const PathId path : m_routing.EntropyPaths(route, pair.paths, pair.distinctPaths))
        {
            paths.hops.push_back(m_hopsOf(path));
        }
    }
    paths.last = paths.last + 1 < paths.hops.size() ? paths.last + 1 : 0;
    return paths.hops[paths.last];
}

void
Datagrams::NoteSent(const Datagram& datagram, int64_t now)
{
    if (datagram.route.Index() >= m_traffic.size())
    {
        m_traffic.resize(m_routing.Size());
    }
    Traffic& traffic = m_traffic[datagram.route.Index()];
    traffic.bytes += datagram.bytes;
    traffic.datagrams++;
    traffic.inFlight++;
    if (!traffic.isFlowing)
    {
        traffic.isFlowing = true;
        m_beginnings.push_back({datagram.route, Time::Picoseconds(now)});
    }
}

uint32_t
Datagrams::NextPacket(uint32_t link, unsigned trafficClass, int64_t now)
{
    m_hasTold = true;
    const std::optional<Datagram> datagram =
        m_client->NextDatagram(LinkId(link), trafficClass, Time::Picoseconds(now));
    if (!datagram)
    {
        m_offers--;
        m_network.SetSource(link, trafficClass, false, now);
        return Packet::NONE;
    }
    WEIR_REFUSE_IF(datagram->bytes == 0 || datagram->bytes > m_network.MaxBytes(link),
                   "Datagrams: found a datagram of " << datagram->bytes << " bytes, expected 1 to "
                                                     << m_network.MaxBytes(link)
                                                     << ", the size of the largest packet");
    const uint32_t packet = m_packets.New();
    Packet& p = m_packets[packet];
    p.kind = PacketKind::Datagram;
    p.stamp = now;
    p.number = datagram->handle;
    p.owner = static_cast<uint32_t>(datagram->route.Index());
    p.hop = HopsOfNextPath(datagram->route);
    p.size = datagram->bytes;
    p.trafficClass = static_cast<uint8_t>(trafficClass);
    p.flags = datagram->isEcnCapable ? 0 : Packet::NOT_ECN_CAPABLE;
    WEIR_REFUSE_IF(m_network.HopAt(p.hop) != link,
                   "Datagrams: found a datagram whose route does not begin at its port");
    NoteSent(*datagram, now);
    return packet;
}

void
Datagrams::OnPacket(uint32_t packet, int64_t now)
{
    const Packet& p = m_packets[packet];
    m_traffic[p.owner].inFlight--;
    m_hasTold = true;
    m_client->OnDatagram(p.number, (p.flags & Packet::MARKED) != 0, Time::Picoseconds(now));
}

void
Datagrams::OnLost(uint32_t packet, int64_t now)
{
    const Packet& p = m_packets[packet];
    m_traffic[p.owner].inFlight--;
    m_hasTold = true;
    m_client->OnDatagramLost(p.number, LinkId(p.nextLink), Time::Picoseconds(now));
}

} // namespace weir
