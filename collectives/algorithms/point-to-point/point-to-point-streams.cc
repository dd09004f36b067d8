// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/point-to-point-load.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"

#include <algorithm>
#include <array>
#include <optional>

/**
 * @file
 * Grouped sends and receives as fluid flows.
 *
 * Where a call has few messages, each of their parts is a leg; parts on one path are merged, which
 * is exact. The n(n - 1) messages of an all-to-all are one leg over all their links, a link's
 * multiplicity being what it carries: as a ring's channel is held at one rate through all its
 * hops, all messages are held at rates in proportion to their bytes. Alone it takes as long as the
 * busiest link needs for its bytes (or the busiest place of a block under its cap), a bound from
 * below that is met when that link never idles. With equal parts it is met: all parts on the
 * busiest links are alike. It is an approximation where parts differ (a short message does not make
 * way for a long one) and of how long the other links are in use (as long as the busiest).
 */
namespace weir
{

namespace
{

/** Steps in which the busiest link's load is counted when parts differ: half a millionth. */
constexpr int64_t LOAD_STEPS = int64_t{1} << 21;

/** What goes from one NIC to another. */
struct WayBytes
{
    DeviceId from;
    DeviceId to;
    int64_t bytes;
};

/** What the parts of a call put on each link. */
struct LinkLoads
{
    std::vector<int64_t> bytes;  //!< by link, on the wire
    std::vector<uint32_t> parts; //!< likewise
    std::vector<LinkId> used;    //!< each once
    std::vector<WayBytes> ways;  //!< over the network, where switches spread what they are given
    int64_t largestPart{0};      //!< bytes on the wire
    bool areEqual{true};         //!< all parts are as large
};

void
AddPart(LinkLoads& loads, LinkId link, uint32_t multiplicity, int64_t bytes)
{
    uint32_t& parts = loads.parts[link.Index()];
    if (parts == 0)
    {
        loads.used.push_back(link);
    }
    parts += multiplicity;
    loads.bytes[link.Index()] += bytes * multiplicity;
}

/** The hops of largest latency among those seen, one of each kind of connection. */
class SlowestHops
{
  public:
    /** @param slice of every message, on the wire */
    SlowestHops(const AlgorithmInputs& in, Bytes slice, std::size_t parts)
        : m_in(in),
          m_slice(slice),
          m_kinds(parts)
    {
    }

    /** The way of a part, its path interned. */
    void Add(std::size_t part, const Connection& way)
    {
        m_kinds[part] = way.kind;
        Time& slowest = m_slowest[static_cast<std::size_t>(way.kind)];
        slowest = std::max(slowest, HopLatency(m_in, Algorithm::PointToPoint, way, m_slice));
    }

    /** A way over the network; only the longest is worth interning. */
    void Add(std::size_t part, const std::vector<LinkId>& links)
    {
        m_kinds[part] = ConnectionKind::Network;
        Time latency;
        for (const LinkId link : links)
        {
            latency += m_in.paths.GetTopology().GetLink(link).latency;
        }
        if (latency > m_longest)
        {
            m_longest = latency;
            Add(part, Connection{m_in.paths.Intern(links), ConnectionKind::Network});
        }
    }

    /** By part: of the slowest hop of its kind; none for a copy, which was not added. */
    std::vector<Time> OfParts() const
    {
        std::vector<Time> latencies(m_kinds.size());
        for (std::size_t part = 0; part < m_kinds.size(); ++part)
        {
            if (m_kinds[part])
            {
                latencies[part] = m_slowest[static_cast<std::size_t>(*m_kinds[part])];
            }
        }
        return latencies;
    }

  private:
    static constexpr std::size_t KINDS = static_cast<std::size_t>(ConnectionKind::Network) + 1;

    const AlgorithmInputs& m_in;
    Bytes m_slice;
    std::vector<std::optional<ConnectionKind>> m_kinds; //!< by part
    std::array<Time, KINDS> m_slowest{};                //!< by kind
    Time m_longest; //!< latency of the links of a way over the network
};

/** Between the NICs of a route from GPU to GPU. */
WayBytes
WayOn(const Topology& topology, const std::vector<LinkId>& route, int64_t bytes)
{
    WayBytes way{DeviceId(), DeviceId(), bytes};
    for (const LinkId each : route)
    {
        const Link& link = topology.GetLink(each);
        if (link.kind == LinkKind::Network)
        {
            way.from = way.from.IsValid() ? way.from : link.from;
            way.to = link.to;
        }
    }
    return way;
}

LinkLoads
LoadsOf(const AlgorithmInputs& in,
        const std::vector<Message>& messages,
        const std::vector<MessagePart>& parts,
        SlowestHops& slowest)
{
    LinkLoads loads;
    const std::size_t links = in.paths.GetTopology().LinkCount();
    loads.bytes.resize(links, 0);
    loads.parts.resize(links, 0);
    const bool keepsWays = in.paths.GetSharing() != nullptr;
    for (std::size_t i = 0; i < parts.size(); ++i)
    {
        const auto& part = parts[i];
        const Message& message = messages[part.message];
        const int64_t bytes = WireBytes(in.protocol, part.share).Count();
        loads.areEqual = loads.areEqual && (loads.largestPart == 0 || loads.largestPart == bytes);
        loads.largestPart = std::max(loads.largestPart, bytes);
        if (message.from == message.to)
        {
            continue;
        }
        if (AreInOneNode(in, message))
        {
            const Connection way = WayOf(in, message, part.part);
            slowest.Add(i, way);
            for (const auto& each : in.paths.Links(way.path))
            {
                AddPart(loads, each.link, each.multiplicity, bytes);
            }
            continue;
        }
        const auto way = in.connector.LinksBetweenNodes(in.communicator.gpus[message.from],
                                                        in.communicator.gpus[message.to],
                                                        PortsOf(in, message, part.part),
                                                        QueuePairOf(in, part.part));
        slowest.Add(i, way);
        for (const LinkId link : way)
        {
            AddPart(loads, link, 1, bytes);
        }
        if (keepsWays)
        {
            loads.ways.push_back(WayOn(in.paths.GetTopology(), way, bytes));
        }
    }
    return loads;
}

/** The ways and the rest of @p links, in units of the leg's bytes. */
PathMakeup
MakeupOf(const AlgorithmInputs& in,
         const LinkLoads& loads,
         const std::vector<PathLink>& links,
         int64_t unit)
{
    PathMakeup makeup;
    auto ways = loads.ways;
    std::sort(ways.begin(), ways.end(), [](const WayBytes& a, const WayBytes& b) {
        return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
    for (std::size_t i = 0; i < ways.size();)
    {
        const WayBytes& first = ways[i];
        int64_t bytes = 0;
        for (; i < ways.size() && ways[i].from == first.from && ways[i].to == first.to; ++i)
        {
            bytes += ways[i].bytes;
        }
        makeup.ways.push_back(
            {first.from, first.to, static_cast<uint32_t>((bytes + unit - 1) / unit)});
    }
    for (const PathLink& each : links)
    {
        if (in.paths.GetTopology().GetLink(each.link).kind != LinkKind::Network)
        {
            makeup.rest.push_back(each);
        }
    }
    return makeup;
}

/** All messages as one leg: a link's multiplicity is its load in units of the leg's bytes. */
StreamLeg
OneLeg(const AlgorithmInputs& in, const LinkLoads& loads, Rate cap)
{
    int64_t unit = loads.largestPart;
    if (!loads.areEqual)
    {
        const int64_t most = *std::max_element(loads.bytes.begin(), loads.bytes.end());
        unit = std::max<int64_t>(1, (most + LOAD_STEPS - 1) / LOAD_STEPS);
    }
    std::vector<PathLink> links;
    double parts = 0;
    double units = 0;
    for (const LinkId link : loads.used)
    {
        const int64_t load = (loads.bytes[link.Index()] + unit - 1) / unit;
        links.push_back({link, static_cast<uint32_t>(load)});
        parts += loads.parts[link.Index()];
        units += static_cast<double>(load);
    }
    const double ofAPart =
        static_cast<double>(unit) / static_cast<double>(std::max<int64_t>(loads.largestPart, 1));
    const PathId path = loads.ways.empty()
                            ? in.paths.InternCounted(links)
                            : in.paths.InternMadeOf(links, MakeupOf(in, loads, links, unit));
    return {path, Bytes(unit), cap * ofAPart, units > 0 ? parts / units : 1};
}

} // namespace

StreamShape
PointToPointStreams(const AlgorithmInputs& in)
{
    const auto messages = MessagesOf(in);
    const auto parts = PartsOf(in, messages);
    const PlaceLoads places(in, messages, parts);
    const Rate cap = PartCap(in, BlockLoadOf(in, messages, parts));
    // A place moves one part after the other: side by side, each gets its part of the place.
    const auto capOf = [&](Bytes bytes, Bytes ofItsPlace) {
        return bytes < ofItsPlace ? cap * (bytes.ToDouble() / ofItsPlace.ToDouble()) : cap;
    };
    StreamShape shape;
    SlowestHops slowest(
        in, SliceOf(in, messages[parts.front().message], parts.front()), parts.size());
    if (in.call.op == CollectiveOp::AllToAll)
    {
        const LinkLoads loads = LoadsOf(in, messages, parts, slowest);
        shape.legs.push_back(OneLeg(in, loads, capOf(Bytes(loads.largestPart), places.Most())));
    }
    else
    {
        for (std::size_t i = 0; i < parts.size(); ++i)
        {
            const Message& message = messages[parts[i].message];
            const Connection way = WayOf(in, message, parts[i].part);
            if (message.from != message.to)
            {
                slowest.Add(i, way);
            }
            const Bytes bytes = WireBytes(in.protocol, parts[i].share);
            AddLeg(shape.legs, way.path, bytes, capOf(bytes, places.BytesAround(i)));
        }
    }
    shape.latency =
        CallLatency(in, Algorithm::PointToPoint) + places.LongestChain(slowest.OfParts());
    for (const auto& part : parts)
    {
        shape.blocks = std::max(shape.blocks, part.channel + 1);
    }
    if (!in.constants.Version().AtLeast(19))
    {
        // All channels that a peer may have get a block, used or not: all-to-all of 32 bytes to 1
        // MiB on 8 A100 takes as long as 34 blocks do (superbenchmark 700d650, NCCL 2.10).
        const PeerChannels limits = PeerChannelsOf(in);
        const auto peers = static_cast<uint32_t>(in.communicator.Size());
        shape.blocks = std::max(shape.blocks, std::min(limits.all, limits.least * peers));
    }
    return shape;
}

} // namespace weir
