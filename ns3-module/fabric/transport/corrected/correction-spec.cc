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

void
RateRecovery::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Duration({"period",
                      "Time without a rate cut after which a flow regains half of the difference "
                      "to its sender's port rate; 0: off.",
                      "DCQCN's increase timer (rpg_time_reset)"},
                     period,
                     {Time(), Time::Seconds(1)});
    visitor.Size({"markFrom",
                  "Queue length at which a port cuts the rates of its flows.",
                  "between DCQCN's Kmin and Kmax, calibrated against packets"},
                 markFrom,
                 {Bytes(0), Bytes::GiB(1)});
    visitor.Number({"floor",
                    "Rate after a flow's first cut and lowest rate after later cuts, as a fraction "
                    "of its sender's port rate.",
                    "calibrated against packets"},
                   floor,
                   {1e-3, 1});
}

void
IngressSharing::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Flag({"shares",
                  "Whether ports divide their rates among the ingress links of packets instead of "
                  "among flows; false: off.",
                  "queues are FIFO, and PFC and credits act per link"},
                 shares);
    visitor.Number({"blocking",
                    "Fraction of the time in which ingress links with packets that wait for a port "
                    "hold back all their flows (head-of-line blocking); in the rest their other "
                    "flows get the remaining rate.",
                    "how often buffers are full, calibrated against packets"},
                   blocking,
                   {0, 1});
}

} // namespace weir
