// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/corrected/correction-spec.h"

#include <algorithm>

namespace weir
{

Time
PacketForwarding::DelayOf(Bytes bytes, PathTable::Span path, const Topology& topology) const
{
    const Bytes last = std::min(bytes, packet);
    double sum = 0; // seconds
    double longest = 0;
    for (const PathLink& each : path)
    {
        const Link& link = topology.GetLink(each.link);
        if (link.kind == LinkKind::Network && link.rate > Rate())
        {
            const double seconds = last.ToDouble() / link.rate.ToBytesPerSecond();
            sum += seconds;
            longest = std::max(longest, seconds);
        }
    }
    return Time::Seconds(sum - longest);
}

void
PacketForwarding::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Size(
        {"packet",
         "Bytes of a full packet, which each switch receives whole before it passes it on; "
         "0: off. With cut-through switches what they look at, the header.",
         "(hops - 1) packets over the rate: htsim and HPCC's simulator alike"},
        packet,
        {Bytes(0), Bytes::MiB(1)});
}

void
LinkUtilization::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number(
        {"ofLink",
         "Part of a network link's rate that flows on it get; 1: all of it.",
         "what acknowledgments leave where bytes go in both directions, 4096 / (4096 + 84), and "
         "what congestion control aims at, HPCC's eta"},
        ofLink,
        {0.1, 1});
}

} // namespace weir
