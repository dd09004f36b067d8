// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/peer-call.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

/**
 * @file
 * Grouped sends and receives as fluid flows.
 *
 * If a call has few messages, each of their parts is a leg; parts on one path are merged, which is
 * exact. The n(n - 1) messages of an all-to-all are one leg over all their links, where a link's
 * multiplicity is its load: all messages have rates in proportion to their bytes, as a ring's
 * channel has one rate over all its hops. The uncontended call takes the time of the busiest link
 * for its bytes (or of the busiest work slot of a block under its cap). This is a lower bound,
 * which is reached if that link never idles, as with equal parts, where all parts on the busiest
 * links are equal. It is an approximation if parts differ (a short message does not yield to a
 * long one), and for how long the other links are used (as long as the busiest).
 *
 * Where flows have paths of their own (ECMP), links differ in load, and one leg would use the less
 * loaded ones at a fraction of their rate. Parts on them in fact move at the rate of their own
 * busiest link and end early. So there is a leg for each class of paths by the utilization of their
 * busiest link (PathClasses). All legs have the same bytes, cap and weight, so those on the busiest
 * link end last and the uncontended time is the same.
 */
namespace weir
{

namespace
{

/** Units in which the busiest link's load is counted if parts differ: half a millionth of it. */
constexpr int64_t LOAD_STEPS = int64_t{1} << 21;

/** Bytes from one NIC to another for one flow tuple. */
struct SegmentBytes
{
    RouteSum::Segment segment;
    int64_t bytes;
};

/** The bytes through the network, by end points and flow tuple. */
class NetworkBytes
{
  public:
    void Add(const RouteSum::Segment& segment, int64_t bytes)
    {
        if (m_segments.size() >= m_foldAt)
        {
            Fold();
            m_foldAt = std::max(FIRST_FOLD, 2 * m_segments.size());
        }
        m_segments.push_back({segment, bytes});
    }

    /** In ascending order of end points and flow tuple, each once. */
    const std::vector<SegmentBytes>& Folded()
    {
        Fold();
        return m_segments;
    }

  private:
    static constexpr std::size_t FIRST_FOLD = 1 << 20;

    static auto KeyOf(const SegmentBytes& each)
    {
        const RouteSum::Segment& s = each.segment;
        return std::make_tuple(s.from.Index(), s.to.Index(), s.tuple.sourcePort, s.tuple.queuePair);
    }

    void Fold()
    {
        std::sort(m_segments.begin(),
                  m_segments.end(),
                  [](const SegmentBytes& a, const SegmentBytes& b) { return KeyOf(a) < KeyOf(b); });
        std::size_t kept = 0;
        for (const SegmentBytes& each : m_segments)
        {
            if (kept > 0 && KeyOf(m_segments[kept - 1]) == KeyOf(each))
            {
                m_segments[kept - 1].bytes += each.bytes;
            }
            else
            {
                m_segments[kept++] = each;
            }
        }
        m_segments.resize(kept, {{}, 0});
    }

    std::vector<SegmentBytes> m_segments;
    std::size_t m_foldAt{FIRST_FOLD};
};

/**
 * The load of the parts of a call on each link. Each part counts as the stripes of a connection
 * between nodes (Connector::Stripes), inside a node all on one path.
 */
struct LinkLoads
{
    LinkLoads(std::size_t links, uint32_t aStripes)
        : bytes(links, 0),
          stripes(links, 0),
          perPart(aStripes)
    {
    }

    std::vector<int64_t> bytes;    //!< by link, on the wire
    std::vector<uint32_t> stripes; //!< as above
    uint32_t perPart;              //!< stripes per part
    std::vector<LinkId> used;      //!< each once
    NetworkBytes network;          //!< the bytes of it that go through the network
    int64_t largestPart{0};        //!< bytes on the wire
    bool areEqual{true};           //!< whether all parts have the same size
};

/** The largest latency of hops seen so far, by kind of connection. */
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

    /** Adds the path of a part whose route exists. */
    void Add(std::size_t part, const Connection& path)
    {
        m_kinds[part] = path.kind;
        Time& slowest = m_slowest[static_cast<std::size_t>(path.kind)];
        slowest = std::max(slowest, HopLatency(m_in, Algorithm::PointToPoint, path, m_slice));
    }

    /** Adds a path over the network. A route is added only if it is the longest path so far. */
    void Add(std::size_t part, const std::vector<LinkId>& links)
    {
        m_kinds[part] = ConnectionKind::Network;
        Time latency;
        for (const LinkId link : links)
        {
            latency += m_in.routing.GetTopology().GetLink(link).latency;
        }
        if (latency > m_longest)
        {
            m_longest = latency;
            Add(part, Connection{m_in.routing.AddPinned(links), ConnectionKind::Network});
        }
    }

    /**
     * By part: the latency of the slowest hop of its kind; zero for a copy, which was not added.
     */
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
    Time m_longest; //!< link latency of the longest path over the network
};

/** The paths of a part's stripes; one path stands for all stripes on it. */
struct PartPath
{
    std::vector<PathLink> links;             //!< with their stripes; links may occur several times
    std::vector<RouteSum::Segment> segments; //!< through the network, with their stripes
};

/** @param slowest if not null, the path is added to it */
PartPath
PathOfPart(const AlgorithmInputs& in, const PeerCall& call, std::size_t index, SlowestHops* slowest)
{
    const PeerCall::Part& part = call.Parts()[index];
    const Message& message = call.MessageOf(part);
    PartPath path;
    if (AreInOneNode(in, message))
    {
        const Connection inside = PathOf(in, message, part.channel, part.part);
        for (const PathLink& each : in.routing.Links(inside.route))
        {
            path.links.push_back({each.link, each.multiplicity * in.connector.Stripes()});
        }
        if (slowest)
        {
            slowest->Add(index, inside);
        }
        return path;
    }
    const GpuId from = in.communicator.gpus[message.from];
    const GpuId to = in.communicator.gpus[message.to];
    const NetworkPorts ports = PortsOf(in, message, part.channel);
    const uint32_t paths = in.connector.StripesBetween(from, to, ports);
    const uint32_t onEach = in.connector.Stripes() / paths;
    for (uint32_t i = 0; i < paths; ++i)
    {
        auto hops =
            in.connector.FindHopsBetweenNodes(from, to, ports, QueuePairOf(in, part.part), i);
        for (const LinkId link : hops.links)
        {
            path.links.push_back({link, onEach});
        }
        hops.segment.times = onEach;
        path.segments.push_back(hops.segment);
        if (slowest)
        {
            slowest->Add(index, hops.links);
        }
    }
    return path;
}

void
AddPart(LinkLoads& loads, const PartPath& path, int64_t bytes)
{
    const int64_t ofStripe = (bytes + loads.perPart - 1) / loads.perPart;
    for (const PathLink& each : path.links)
    {
        uint32_t& stripes = loads.stripes[each.link.Index()];
        if (stripes == 0)
        {
            loads.used.push_back(each.link);
        }
        stripes += each.multiplicity;
        loads.bytes[each.link.Index()] += ofStripe * each.multiplicity;
    }
    for (const RouteSum::Segment& each : path.segments)
    {
        loads.network.Add(each, ofStripe * each.times);
    }
}

/** Whether the switches of a network give each flow its own path, so that links differ in load. */
bool
HasOwnPaths(const Routing& routing)
{
    const Topology& topology = routing.GetTopology();
    bool joinsSwitches = false;
    for (uint32_t link = 0; link < topology.LinkCount() && !joinsSwitches; ++link)
    {
        joinsSwitches = JoinsSwitches(topology, LinkId(link));
    }
    return joinsSwitches && !routing.Spread();
}

/** Network segments are left out where each class of paths lists its own. */
LinkLoads
LoadsOf(const AlgorithmInputs& in, const PeerCall& call, SlowestHops& slowest)
{
    LinkLoads loads(in.routing.GetTopology().LinkCount(), in.connector.Stripes());
    const bool hasOwnPaths = HasOwnPaths(in.routing);
    for (std::size_t i = 0; i < call.Parts().size(); ++i)
    {
        const PeerCall::Part& part = call.Parts()[i];
        const int64_t bytes = call.WireShare(part).Count();
        loads.areEqual = loads.areEqual && (loads.largestPart == 0 || loads.largestPart == bytes);
        loads.largestPart = std::max(loads.largestPart, bytes);
        if (!call.IsCopy(part))
        {
            PartPath path = PathOfPart(in, call, i, &slowest);
            if (hasOwnPaths)
            {
                path.segments.clear(); // they go to its class
            }
            AddPart(loads, path, bytes);
        }
    }
    return loads;
}

/**
 * Bytes in which a link's load on the legs of a call is counted: a stripe, or if parts differ, so
 * that the busiest link has LOAD_STEPS of them.
 */
int64_t
UnitOf(const LinkLoads& loads)
{
    if (loads.areEqual)
    {
        return (loads.largestPart + loads.perPart - 1) / loads.perPart;
    }
    const int64_t max = *std::max_element(loads.bytes.begin(), loads.bytes.end());
    return std::max<int64_t>(1, (max + LOAD_STEPS - 1) / LOAD_STEPS);
}

/** Number of parts per unit: the weight of a leg. */
double
PartsPerUnit(const LinkLoads& loads, int64_t unit)
{
    double stripes = 0;
    double units = 0;
    for (const LinkId link : loads.used)
    {
        stripes += loads.stripes[link.Index()];
        units += static_cast<double>((loads.bytes[link.Index()] + unit - 1) / unit);
    }
    return units > 0 ? stripes / loads.perPart / units : 1;
}

/** The parts of @p loads as a sum of routes: a link's multiplicity is its load in units. */
RouteSum
SumOf(const Topology& topology, LinkLoads& loads, int64_t unit)
{
    RouteSum sum;
    for (const LinkId link : loads.used)
    {
        const int64_t load = (loads.bytes[link.Index()] + unit - 1) / unit;
        const bool isNetwork = topology.GetLink(link).kind == LinkKind::Network;
        (isNetwork ? sum.segmentLinks : sum.otherLinks)
            .push_back({link, static_cast<uint32_t>(load)});
    }
    for (const SegmentBytes& each : loads.network.Folded())
    {
        sum.segments.push_back(each.segment);
        sum.segments.back().times = static_cast<uint32_t>((each.bytes + unit - 1) / unit);
    }
    return sum;
}

/**
 * The classes of an all-to-all's paths by the utilization of their busiest link, relative to the
 * busiest link of the call.
 */
class PathClasses
{
  public:
    /** The relative utilization within a class differs by up to 1 / COUNT. */
    static constexpr std::size_t COUNT = 16;

    /** Both must outlive it. */
    PathClasses(const Topology& topology, const LinkLoads& loads)
        : m_topology(topology),
          m_loads(loads)
    {
        for (const LinkId link : loads.used)
        {
            const double utilization = UtilizationOf(link);
            m_largest = std::isinf(utilization) ? m_largest : std::max(m_largest, utilization);
        }
    }

    /** 0 for the busiest paths, and for those over links of rate zero. */
    std::size_t ClassOf(const PartPath& path) const
    {
        double largest = 0;
        for (const PathLink& each : path.links)
        {
            largest = std::max(largest, UtilizationOf(each.link));
        }
        const double idle = largest < m_largest ? 1 - largest / m_largest : 0;
        return std::min(COUNT - 1, static_cast<std::size_t>(idle * COUNT));
    }

  private:
    double UtilizationOf(LinkId link) const
    {
        return static_cast<double>(m_loads.bytes[link.Index()]) /
               m_topology.GetLink(link).rate.ToBytesPerSecond();
    }

    const Topology& m_topology;
    const LinkLoads& m_loads;
    double m_largest{0};
};

/** The loads of an all-to-all by class of paths; one class if it crosses no two switches. */
std::vector<LinkLoads>
LoadsOfClasses(const AlgorithmInputs& in, const PeerCall& call, const LinkLoads& all)
{
    const Topology& topology = in.routing.GetTopology();
    const PathClasses classes(topology, all);
    const bool crossesSwitches = std::any_of(all.used.begin(), all.used.end(), [&](LinkId link) {
        return JoinsSwitches(topology, link);
    });
    std::vector<LinkLoads> loads(PathClasses::COUNT, LinkLoads(topology.LinkCount(), all.perPart));
    for (std::size_t i = 0; i < call.Parts().size(); ++i)
    {
        const PeerCall::Part& part = call.Parts()[i];
        if (!call.IsCopy(part))
        {
            const PartPath path = PathOfPart(in, call, i, nullptr);
            AddPart(loads[crossesSwitches ? classes.ClassOf(path) : 0],
                    path,
                    call.WireShare(part).Count());
        }
    }
    return loads;
}

/**
 * The legs of an all-to-all: one, or where links differ in load, one per class of paths. All have
 * the same bytes, cap and weight.
 *
 * @param capOf the cap of a part of these bytes
 */
template <typename CapOf>
std::vector<StreamLeg>
LegsOf(const AlgorithmInputs& in, const PeerCall& call, LinkLoads& loads, const CapOf& capOf)
{
    const Topology& topology = in.routing.GetTopology();
    const int64_t unit = UnitOf(loads);
    const double ofPart =
        static_cast<double>(unit) / static_cast<double>(std::max<int64_t>(loads.largestPart, 1));
    const Rate cap = capOf(Bytes(loads.largestPart)) * ofPart;
    const double weight = PartsPerUnit(loads, unit);
    if (!HasOwnPaths(in.routing))
    {
        return {{in.routing.AddSum(SumOf(topology, loads, unit)), Bytes(unit), cap, weight}};
    }
    std::vector<StreamLeg> legs;
    for (LinkLoads& each : LoadsOfClasses(in, call, loads))
    {
        if (!each.used.empty())
        {
            const RouteId route = in.routing.AddSum(SumOf(topology, each, unit));
            legs.push_back({route, Bytes(unit), cap, weight});
        }
    }
    return legs;
}

} // namespace

StreamShape
PointToPointStreams(const AlgorithmInputs& in)
{
    const PeerCall call(in);
    const auto& parts = call.Parts();
    const std::vector<Bytes> slotBytes = call.SlotBytes();
    const Rate cap = call.PartCap();
    // A work slot moves one part after the other. As concurrent flows each gets a fraction of its
    // rate.
    const auto capOf = [&](Bytes bytes, Bytes ofItsSlot) {
        return bytes < ofItsSlot ? cap * (bytes.ToDouble() / ofItsSlot.ToDouble()) : cap;
    };
    StreamShape shape;
    SlowestHops slowest(in, call.SliceOf(parts.front()), parts.size());
    if (in.call.op == CollectiveOp::AllToAll)
    {
        LinkLoads loads = LoadsOf(in, call, slowest);
        const Bytes busiest = *std::max_element(slotBytes.begin(), slotBytes.end());
        shape.legs = LegsOf(in, call, loads, [&](Bytes part) { return capOf(part, busiest); });
        // A work slot sends one part at a time, so each part is in flight for a share of the call.
        const std::vector<Bytes> network = call.SlotBytes(
            [&](const auto& part) { return !AreInOneNode(in, call.MessageOf(part)); });
        const Bytes slot = *std::max_element(network.begin(), network.end());
        shape.activeShare = std::min(1.0, loads.largestPart / std::max(1.0, slot.ToDouble()));
    }
    else
    {
        for (std::size_t i = 0; i < parts.size(); ++i)
        {
            const PeerCall::Part& part = parts[i];
            const Connection path = PathOf(in, call.MessageOf(part), part.channel, part.part);
            if (!call.IsCopy(parts[i]))
            {
                slowest.Add(i, path);
            }
            const Bytes bytes = call.WireShare(parts[i]);
            const Bytes around = std::max(slotBytes[parts[i].sender], slotBytes[parts[i].receiver]);
            AddLeg(shape.legs, {path.route, bytes, capOf(bytes, around)}, in.routing);
        }
    }
    shape.latency = CallLatency(in, Algorithm::PointToPoint) + call.LongestChain(slowest.OfParts());
    shape.blocks = call.ChannelCount();
    if (!in.constants.Version().AtLeast(19))
    {
        // Every channel that a peer may have gets a block, used or not: all-to-all of 32 bytes to 1
        // MiB on 8 A100 takes the time of 34 blocks (superbenchmark 700d650, NCCL 2.10).
        const PeerChannels limits = PeerChannelsOf(in);
        const auto peers = static_cast<uint32_t>(in.communicator.Size());
        shape.blocks = std::max(shape.blocks, std::min(limits.all, limits.min * peers));
    }
    return shape;
}

} // namespace weir
