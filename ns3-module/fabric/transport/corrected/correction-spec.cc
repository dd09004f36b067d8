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
    visitor.Size({"packet",
                  "Size of a full packet that each switch receives before it forwards it "
                  "(store-and-forward delay); with cut-through switches, of its header. 0: off.",
                  "(hops - 1) packets over the rate, as in htsim and HPCC's simulator"},
                 packet,
                 {Bytes(0), Bytes::MiB(1)});
}

void
LinkUtilization::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"ofLink",
                    "Fraction of a network link's rate that is available to flows; 1: all of it.",
                    "the rate left by acknowledgments of data in the other direction, 4096 / (4096 "
                    "+ 84), and the target utilization of congestion control, HPCC's eta"},
                   ofLink,
                   {0.1, 1});
}

} // namespace weir
