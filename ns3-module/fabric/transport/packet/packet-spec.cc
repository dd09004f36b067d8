// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/packet-spec.h"

namespace weir
{

namespace
{

const Bytes MAX_BYTES = Bytes::GiB(1024);
const Time MAX_TIME = Time::Seconds(1000);

} // namespace

void
PacketFormat::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Size({"mtu", "Payload bytes of a full packet.", "RoCEv2's largest path MTU"},
                 mtu,
                 {Bytes(64), Bytes::MiB(1)});
    visitor.OptionalCount(
        {"header",
         "Header bytes of a packet, including preamble and inter-packet gap; absent: from the "
         "framing of the system's NICs.",
         "RoCEv2 over IPv4: 82 = 14 + 20 + 8 + 12 + 4 + 4, and 20 of preamble and gap"},
        header,
        {0, 4096});
    visitor.Size({"controlSize",
                  "Bytes on the wire of an acknowledgment, a notification or a trimmed packet.",
                  "the minimum Ethernet frame, 64, with preamble and gap"},
                 controlSize,
                 {Bytes(1), Bytes::KiB(4)});
}

void
QueuePairSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Enum<LossRecovery>(
        {"recovery",
         "Retransmission of lost packets; go-back-n: all packets from the first lost one; "
         "selective: only lost packets; by-routing: selective where routing is spray (which "
         "reorders packets), else go-back-n."},
        recovery,
        {{"by-routing", LossRecovery::ByRouting},
         {"go-back-n", LossRecovery::GoBackN},
         {"selective", LossRecovery::Selective}});
    visitor.Count(
        {"ackEvery",
         "Number of packets per acknowledgment; the last packet of a message, a retransmitted "
         "packet and a packet that fills the window are acknowledged at once."},
        ackEvery,
        {1, 1u << 20});
    visitor.Duration(
        {"ackDelay",
         "Maximum time that an acknowledgment waits for further packets to acknowledge.",
         "estimate: a round trip of a data center"},
        ackDelay,
        {Time::Nanoseconds(1), Time::Seconds(1)});
    visitor.Flag({"repace",
                  "Whether a new rate also moves the send time of the next packet; false: it "
                  "applies from the packet after the next.",
                  "HPCC's simulator: true only for HPCC"},
                 repace);
    visitor.Flag({"ackPriority", "Whether acknowledgments and notifications are sent before data."},
                 ackPriority);
    visitor.Flag({"ackBitmap",
                  "Whether acknowledgments carry a bitmap of 64 packets after the expected one, or "
                  "up to the acknowledged one; out-of-order packets then count for ackEvery "
                  "instead of each having its own acknowledgment (selective).",
                  "Ultra Ethernet and htsim: true"},
                 ackBitmap);
    visitor.Duration({"retransmissionTimeout",
                      "Time without an acknowledgment after which a sender retransmits.",
                      "mlx5: 4.096 us x 2^timeout, with timeout 10"},
                     retransmissionTimeout,
                     {Time::Nanoseconds(1), Time::Infinite()});
    visitor.Duration({"nackInterval",
                      "Minimum time between two negative acknowledgments for the same packet "
                      "(go-back-n), except where its header arrives trimmed.",
                      "HPCC's simulator"},
                     nackInterval,
                     {Time(), MAX_TIME});
    visitor.OptionalCount({"reordering",
                           "Number of later packets that may arrive before a missing packet counts "
                           "as lost (selective); absent: paths where routing is spray, else 0."},
                          reordering,
                          {0, 1u << 20});
    visitor.Count({"paths",
                   "Number of source ports over which a queue pair spreads its packets where "
                   "routing is spray."},
                  paths,
                  {1, 1u << 12});
    visitor.Flag({"distinctPaths",
                  "Whether only the first of the source ports that hash to the same path is used, "
                  "so that all paths get equal shares; false: the share of a path is the number of "
                  "ports that hash to it (oblivious spraying)."},
                 distinctPaths);
    visitor.Enum<PathChoice>(
        {"pathChoice",
         "Path selection for the next packet where routing is spray; round-robin; avoid: "
         "skip a path for one round per marked and four per trimmed packet; recycle: reuse a path "
         "just acknowledged without a mark, else round robin; mixed: recycle, else avoid.",
         "htsim: oblivious, bitmap, REPS, mixed (its default)"},
        pathChoice,
        {{"round-robin", PathChoice::RoundRobin},
         {"avoid", PathChoice::Avoid},
         {"recycle", PathChoice::Recycle},
         {"mixed", PathChoice::Mixed}});
    visitor.Size(
        {"window", "Maximum unacknowledged bytes of a queue pair; 0: given by congestion control."},
        window,
        {Bytes(0), MAX_BYTES});
    visitor.DataRate({"maxRate",
                      "Maximum sending rate of a queue pair, which is the line rate for congestion "
                      "control; 0: the rate of its port."},
                     maxRate,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.Enum<PaceTimer>(
        {"paceTimer",
         "Timer that wakes a queue pair at the send time of its next packet; queue-pair: one timer "
         "per queue pair; port: one timer per port, set to the earliest send time of its queue "
         "pairs (full windows included) when none may send and that time is not past; "
         "acknowledgments also wake all of them.",
         "HPCC's simulator: port"},
        paceTimer,
        {{"queue-pair", PaceTimer::QueuePair}, {"port", PaceTimer::Port}});
    visitor.Duration({"messageGap", "Idle time between two messages of a queue pair."},
                     messageGap,
                     {Time(), MAX_TIME});
    visitor.Enum<FlowEnd>(
        {"flowEnd",
         "End of a flow: its last byte has been received, or its last acknowledgment has arrived."},
        flowEnd,
        {{"received", FlowEnd::Received}, {"acknowledged", FlowEnd::Acknowledged}});
}

void
SwitchSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Enum<FlowControl>({"flowControl",
                               "Link-level flow control; pfc: pauses per traffic class; credits: "
                               "as InfiniBand; none: lossy queues."},
                              flowControl,
                              {{"pfc", FlowControl::Pfc},
                               {"credits", FlowControl::Credits},
                               {"none", FlowControl::None}});
    visitor.Count(
        {"ports", "Maximum number of links of a switch; 0: unlimited."}, ports, {0, 1u << 16});
    visitor.DataRate(
        {"capacity",
         "Maximum total sending rate of the links of a switch, including headers; 0: unlimited."},
        capacity,
        {Rate(), Rate::Gbps(1e6)});
    visitor.Duration({"latency",
                      "Time from a packet's arrival at a switch to its egress queue, in addition "
                      "to the latency of the link."},
                     latency,
                     {Time(), Time::Milliseconds(1)});
    visitor.Size(
        {"buffer", "Size of the packet buffer of a switch.", "Spectrum, Tomahawk: 16 MB and more"},
        buffer,
        {Bytes(1), MAX_BYTES});
    visitor.Size({"cell", "Cell size of the buffer; a packet occupies whole cells."},
                 cell,
                 {Bytes(1), Bytes::KiB(64)});
    visitor.Size({"reserve",
                  "Part of the buffer that is reserved for each ingress link and lossless class.",
                  "HPCC's simulator"},
                 reserve,
                 {Bytes(0), MAX_BYTES});
    visitor.Number({"alpha",
                    "Dynamic threshold: fraction of the free shared buffer that an ingress link "
                    "and class (pfc), or a queue of a lossy class, may use.",
                    "HPCC's simulator: 1/8 at the NIC's rate"},
                   alpha,
                   {1e-6, 1e6});
    visitor.DataRate(
        {"alphaRate",
         "Link rate for which alpha holds; alpha scales with the actual link rate. 0: no scaling."},
        alphaRate,
        {Rate(), Rate::Gbps(1e6)});
    visitor.Size({"headroom",
                  "Buffer of an ingress link and class for data that arrives after it sent a "
                  "pause; 0: room for two packets, the pause and the data in flight in both "
                  "directions of the cable, in cells.",
                  "IEEE 802.1Qbb without delays of interfaces"},
                 headroom,
                 {Bytes(0), MAX_BYTES});
    visitor.Size({"resumeOffset",
                  "Distance below its threshold at which a paused ingress link and class resumes.",
                  "HPCC's simulator"},
                 resumeOffset,
                 {Bytes(0), MAX_BYTES});
    visitor.Duration(
        {"pauseTime",
         "Duration of a pause, which is renewed before it expires; inf: until a resume."},
        pauseTime,
        {Time::Nanoseconds(1), Time::Infinite()});
    visitor.Size(
        {"portQueue", "Maximum queue length of a lossy class at a port; 0: given by alpha."},
        portQueue,
        {Bytes(0), MAX_BYTES});
    visitor.Count({"losslessClasses",
                   "Number of data classes, from the first on, that are paused (pfc); packets of "
                   "the other classes are dropped when their queue is full."},
                  losslessClasses,
                  {0, 7});
    visitor.Flag({"classByHop",
                  "Whether the class of a packet rises by one after each link between switches, "
                  "except from a link within a group to one between groups, which prevents "
                  "deadlock. It needs as many trafficClasses (with pfc also losslessClasses) as "
                  "the longest path uses: 2 in a dragonfly, 3 with detours.",
                  "virtual channels by hop (Guenther, IEEE Trans. Communications 1981; for "
                  "dragonflies Kim et al., ISCA 2008)"},
                 classByHop);
    visitor.Flag({"trim",
                  "Whether packets that find their queue full are trimmed to their headers instead "
                  "of dropped."},
                 trim);
    visitor.Number({"trimTail",
                    "Probability that a full queue trims its newest packet and admits the arriving "
                    "one instead; the randomness keeps synchronized senders from losing all "
                    "packets to one sender. 0: the arriving packet is always trimmed.",
                    "NDP's switches (Handley et al., SIGCOMM 2017, section 3.1) and htsim: 0.5"},
                   trimTail,
                   {0, 1});
    visitor.Size({"controlQueue",
                  "Maximum queue length of control packets, including trimmed headers, at a port "
                  "of a switch that trims; further ones are dropped. 0: twice portQueue, or "
                  "unlimited where portQueue is 0.",
                  "htsim: twice the queue of data"},
                 controlQueue,
                 {Bytes(0), MAX_BYTES});
    visitor.Count({"controlRun",
                   "Maximum number of consecutive control packets that a port of a switch that "
                   "trims sends while data waits. 0: unlimited; headers of senders that do not "
                   "slow down may then block data forever.",
                   "Weir; NDP's switches (section 3.1): 10, htsim: 100000"},
                  controlRun,
                  {0, 1u << 30});
    visitor.Flag({"cutThrough",
                  "Whether switches forward a packet once its header has arrived (cut-through); "
                  "false: store-and-forward."},
                 cutThrough);
    visitor.Size(
        {"creditBuffer",
         "Receive buffer of a link and class (credits); 0: enough for one flow at the full rate. "
         "Flows to different egress ports block each other in it (head-of-line blocking)."},
        creditBuffer,
        {Bytes(0), MAX_BYTES});
    visitor.Size({"creditUnit", "Size of one credit.", "InfiniBand: 64"},
                 creditUnit,
                 {Bytes(1), Bytes::KiB(64)});
    visitor.Duration(
        {"creditDelay", "Time from a packet's departure to the return of its credits."},
        creditDelay,
        {Time(), MAX_TIME});
    visitor.Flag({"marks", "Whether switches mark packets (ECN)."}, marks);
    visitor.Flag({"markRoots",
                  "Whether only root queues of congestion mark: a packet that waited for credits "
                  "or a pause at the head of its queue is not marked.",
                  "InfiniBand Architecture, annex A10"},
                 markRoots);
    visitor.Size({"markFrom",
                  "Queue length above which packets are marked with a growing probability (Kmin).",
                  "HPCC's simulator"},
                 markFrom,
                 {Bytes(0), MAX_BYTES});
    visitor.Size(
        {"markAll", "Queue length above which all packets are marked (Kmax).", "HPCC's simulator"},
        markAll,
        {Bytes(0), MAX_BYTES});
    visitor.Number({"markProbability",
                    "Marking probability at a queue length of markAll (Pmax).",
                    "HPCC's simulator"},
                   markProbability,
                   {0, 1});
    visitor.DataRate({"markRate",
                      "Link rate for which markFrom and markAll hold; they scale with the actual "
                      "link rate. 0: no scaling."},
                     markRate,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.Enum<MarkingPoint>(
        {"markAt",
         "Time at which the queue length decides on a mark: when the packet leaves the queue "
         "(dequeue) or arrives (enqueue)."},
        markAt,
        {{"dequeue", MarkingPoint::Dequeue}, {"enqueue", MarkingPoint::Enqueue}});
}

void
ArbitrationSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Text({"highTable",
                  "Data classes that ports serve with high priority, as class:weight with weights "
                  "in units of 64 bytes, such as 1:64,2:128; empty: none.",
                  "InfiniBand Architecture, volume 1, 7.6.9; text as OpenSM's vlarb_high"},
                 highTable);
    visitor.Text({"lowTable",
                  "Data classes that ports serve with low priority, as class:weight; empty: all "
                  "classes that are not in highTable, round robin by packet."},
                 lowTable);
    visitor.Size({"highLimit",
                  "Maximum bytes that classes of highTable send before lowTable may send a packet; "
                  "0: one packet."},
                 highLimit,
                 {Bytes(0), MAX_BYTES});
}

uint32_t
NodeLinkSpec::BurstOf(int64_t bytes) const
{
    constexpr int64_t PARTS = 16;
    constexpr int64_t PACKET = 256;
    constexpr int64_t MIN_BURST = 1024;
    const int64_t part = (bytes + PARTS * PACKET - 1) / (PARTS * PACKET) * PACKET;
    return static_cast<uint32_t>(std::min(burst.Count(), std::max(MIN_BURST, part)));
}

void
NodeLinkSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Size(
        {"nvlinkBuffer",
         "Receive buffer of an NVLink; 0: enough for one flow at the full rate, at an NVSwitch for "
         "each egress port, so that no flow blocks others (NVIDIA calls NVSwitches non-blocking)."},
        nvlinkBuffer,
        {Bytes(0), MAX_BYTES});
    visitor.Size({"pcieBuffer",
                  "Receive buffer of a PCIe link for writes, and the same for read completions; 0: "
                  "enough for the full rate."},
                 pcieBuffer,
                 {Bytes(0), MAX_BYTES});
    visitor.Size({"pcieMaxPayload",
                  "Maximum payload of a PCIe packet (TLP), which takes one header credit.",
                  "Max_Payload_Size of servers"},
                 pcieMaxPayload,
                 {Bytes(64), Bytes::KiB(4)});
    constexpr uint32_t MAX_CREDITS = 1u << 20;
    visitor.Count({"pciePostedHeaders",
                   "Header credits of a PCIe link for writes (posted); 0: unlimited. Without "
                   "scaled flow control at most 127."},
                  pciePostedHeaders,
                  {0, MAX_CREDITS});
    visitor.Count({"pciePostedData",
                   "Data credits of 16 bytes of a PCIe link for writes (posted); 0: given by "
                   "pcieBuffer. Without scaled flow control at most 2047."},
                  pciePostedData,
                  {0, MAX_CREDITS});
    visitor.Count({"pcieCompletionHeaders",
                   "Header credits of a PCIe link for read completions, which carry the data that "
                   "network adapters send; 0: unlimited."},
                  pcieCompletionHeaders,
                  {0, MAX_CREDITS});
    visitor.Count(
        {"pcieCompletionData",
         "Data credits of 16 bytes of a PCIe link for read completions; 0: given by pcieBuffer."},
        pcieCompletionData,
        {0, MAX_CREDITS});
    visitor.Count({"pcieReadTags",
                   "Maximum number of outstanding PCIe read requests of a network adapter for data "
                   "to send; 0: unlimited."},
                  pcieReadTags,
                  {0, 1u << 14});
    visitor.Size({"pcieReadRequest",
                  "Size of a PCIe read request (Max_Read_Request_Size).",
                  "default of PCI Express"},
                 pcieReadRequest,
                 {Bytes(128), Bytes::KiB(4)});
    visitor.Size({"nicBuffer",
                  "Packet buffer of a network adapter for packets from the network.",
                  "ConnectX-5: 2 MB a port"},
                 nicBuffer,
                 {Bytes(1), MAX_BYTES});
    visitor.Size({"burst",
                  "Maximum burst inside a node, which models consecutive packets of 128 to 256 "
                  "bytes as one; it is at most a sixteenth of the message, but at least 1 KiB."},
                 burst,
                 {Bytes(64), Bytes::MiB(1)});
}

void
SettleSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Flag({"replay",
                  "Whether episodes of flows that share links are replayed instead of simulated "
                  "when flows start again at the same relative times, on the same links or on "
                  "links of the same kinds; queue pairs forget congestion between episodes.",
                  "memoization of Wormhole (NSDI 2026), with exact keys"},
                 replay);
    visitor.Number(
        {"tolerance",
         "Relative tolerance of replays; if above 0, episodes with nearly the same start times are "
         "replayed, too, and an episode whose successive windows agree is served at its average "
         "rates. Results shift by at most this fraction of the time since the first start or of "
         "the flow's uncontended time. 0: replays are exact."},
        tolerance,
        {0, 1});
}

void
PacketSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count({"trafficClasses",
                   "Number of data classes, which ports serve in the order set by arbitration."},
                  trafficClasses,
                  {1, 7});
    visitor.Duration({"clock",
                      "Clock tick of transmission times, which are rounded down to whole ticks (an "
                      "exact number of ticks to one tick less); at 1ps, rounded to the nearest.",
                      "HPCC's simulator: 1ns"},
                     clock,
                     {Time::Picoseconds(1), Time::Microseconds(1)});
    visitor.Seed({"packetSeed", "Seed of the random numbers for marking, trimming and loss."},
                 seed);
}

std::vector<std::pair<const char*, Parameterized*>>
PacketSpec::Parts()
{
    return {{"packet", &format},
            {"queuePair", &queuePair},
            {"switch", &switches},
            {"arbitration", &arbitration},
            {"nodeLinks", &nodeLinks},
            {"settle", &settle}};
}

void
FillHeader(PacketFormat& format, double framing)
{
    if (!format.header)
    {
        constexpr uint32_t ROCE_V2 = 82;
        format.header = framing < 1
                            ? static_cast<uint32_t>(format.mtu.ToDouble() * (1 / framing - 1) + 0.5)
                            : ROCE_V2;
    }
}

void
FillRecovery(QueuePairSpec& pair, bool isSprayed)
{
    if (pair.recovery == LossRecovery::ByRouting)
    {
        pair.recovery = isSprayed ? LossRecovery::Selective : LossRecovery::GoBackN;
    }
    // With round robin over paths whose queues differ by at most one packet, a packet is overtaken
    // by at most one packet on each other path.
    pair.reordering = pair.reordering.value_or(isSprayed ? pair.paths : 0);
}

} // namespace weir
