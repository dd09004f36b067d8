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
    visitor.Size({"mtu", "Payload of a full packet.", "RoCEv2's largest path MTU"},
                 mtu,
                 {Bytes(64), Bytes::MiB(1)});
    visitor.OptionalCount({"header",
                           "Bytes that a packet has besides, preamble and gap included; left open: "
                           "as the framing of the system's NICs has it.",
                           "RoCEv2 over IPv4, 82: 14 + 20 + 8 + 12 + 4 + 4, and 20 of preamble "
                           "and gap"},
                          header,
                          {0, 4096});
    visitor.Size({"controlSize",
                  "Bytes on the wire of an acknowledgment, a notification or a trimmed packet.",
                  "the least Ethernet frame, 64, with preamble and gap"},
                 controlSize,
                 {Bytes(1), Bytes::KiB(4)});
}

void
QueuePairSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Enum<LossRecovery>({"recovery",
                                "How lost packets are sent again: all from there on, or only "
                                "those; by-routing: only those "
                                "where routing is spray, for one that is overtaken is not lost."},
                               recovery,
                               {{"by-routing", LossRecovery::ByRouting},
                                {"go-back-n", LossRecovery::GoBackN},
                                {"selective", LossRecovery::Selective}});
    visitor.Count(
        {"ackEvery",
         "Packets that one acknowledgment answers; a message's last, one sent again and one behind "
         "which the window is full of fewer have one."},
        ackEvery,
        {1, 1u << 20});
    visitor.Duration({"ackDelay",
                      "The longest that an acknowledgment waits for more packets to answer.",
                      "estimate: a round trip of a data center"},
                     ackDelay,
                     {Time::Nanoseconds(1), Time::Seconds(1)});
    visitor.Flag({"repace",
                  "A new rate moves the packet that waits for its time; without it, it holds from "
                  "the one behind it on.",
                  "HPCC's simulator: true for HPCC alone"},
                 repace);
    visitor.Flag({"ackPriority", "Acknowledgments and notifications go ahead of data."},
                 ackPriority);
    visitor.Flag(
        {"ackBitmap",
         "Acknowledgments say which packets have come of 64 behind the expected one, or up "
         "to the one that they answer, so that packets out of order count as others do "
         "instead of having one each; one that fills the window has one (selective).",
         "Ultra Ethernet and htsim: true"},
        ackBitmap);
    visitor.Duration({"retransmissionTimeout",
                      "Time without an acknowledgment after which a sender sends again.",
                      "mlx5: 4.096 us x 2^timeout, with timeout 10"},
                     retransmissionTimeout,
                     {Time::Nanoseconds(1), Time::Infinite()});
    visitor.Duration({"nackInterval",
                      "Least time between two requests for the same packet (go-back-n).",
                      "HPCC's simulator"},
                     nackInterval,
                     {Time(), MAX_TIME});
    visitor.OptionalCount(
        {"reordering",
         "Packets by which another may be overtaken and is not yet held lost (selective); left "
         "open: as many as paths where routing is spray, else 0."},
        reordering,
        {0, 1u << 20});
    visitor.Count({"paths", "Source ports that a queue pair varies where routing is spray."},
                  paths,
                  {1, 1u << 12});
    visitor.Flag(
        {"distinctPaths",
         "Of source ports that hash to one path, use the first only: the paths found get "
         "equal parts. Else a path gets as much as ports hash to it (oblivious spraying)."},
        distinctPaths);
    visitor.Enum<PathChoice>(
        {"pathChoice",
         "Path of the next packet where routing is spray: each in its turn; but avoid those that "
         "were marked (for a turn) or trimmed (for four); recycle one that was just answered "
         "without a mark, else the next; mixed: recycle, else avoid.",
         "htsim: oblivious, bitmap, REPS, mixed (its default)"},
        pathChoice,
        {{"turns", PathChoice::Turns},
         {"avoid", PathChoice::Avoid},
         {"recycle", PathChoice::Recycle},
         {"mixed", PathChoice::Mixed}});
    visitor.Size({"window", "Most bytes that are not acknowledged; 0: as congestion control says."},
                 window,
                 {Bytes(0), MAX_BYTES});
    visitor.DataRate({"maxRate",
                      "Most that a queue pair sends, which congestion control takes for its line; "
                      "0: its port's rate."},
                     maxRate,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.Enum<PaceTimer>(
        {"paceTimer",
         "What wakes a queue pair at the time of its next packet: a timer of its own; or one of "
         "its "
         "port, which is set when nothing can be sent, to the first of the times, those of full "
         "windows among them, unless that is past or it is set already; acknowledgments wake all.",
         "HPCC's simulator: port"},
        paceTimer,
        {{"queue-pair", PaceTimer::QueuePair}, {"port", PaceTimer::Port}});
    visitor.Duration({"messageGap", "Pause between two messages of a queue pair."},
                     messageGap,
                     {Time(), MAX_TIME});
    visitor.Enum<FlowEnd>(
        {"flowEnd", "When a flow has ended: its last byte is received, or acknowledged."},
        flowEnd,
        {{"received", FlowEnd::Received}, {"acknowledged", FlowEnd::Acknowledged}});
}

void
SwitchSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Enum<FlowControl>(
        {"flowControl",
         "What keeps packets from being lost: pauses by class, credits, or nothing."},
        flowControl,
        {{"pfc", FlowControl::Pfc},
         {"credits", FlowControl::Credits},
         {"none", FlowControl::None}});
    visitor.Count({"ports", "Most links that a switch has; 0: any number."}, ports, {0, 1u << 16});
    visitor.DataRate({"capacity",
                      "Most that the links of a switch send together, headers included; 0: any "
                      "rate."},
                     capacity,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.Duration({"latency",
                      "Time from a packet's arrival at a switch to its egress queue, beside what "
                      "the latency of the link has of it."},
                     latency,
                     {Time(), Time::Milliseconds(1)});
    visitor.Size({"buffer", "Packet buffer of a switch.", "Spectrum, Tomahawk: 16 MB and more"},
                 buffer,
                 {Bytes(1), MAX_BYTES});
    visitor.Size(
        {"cell", "A packet takes whole cells of the buffer."}, cell, {Bytes(1), Bytes::KiB(64)});
    visitor.Size({"reserve", "Of that, for each ingress link and class alone.", "HPCC's simulator"},
                 reserve,
                 {Bytes(0), MAX_BYTES});
    visitor.Number({"alpha",
                    "Part of the free shared buffer that one ingress link and class may use (pfc), "
                    "or one queue of a lossy class.",
                    "HPCC's simulator: 1/8 at the NIC's rate"},
                   alpha,
                   {1e-6, 1e6});
    visitor.DataRate(
        {"alphaRate", "Link rate that alpha is for; it grows in proportion; 0: alpha is for all."},
        alphaRate,
        {Rate(), Rate::Gbps(1e6)});
    visitor.Size({"headroom",
                  "Room of an ingress link and class for what comes after a pause; 0: what two "
                  "packets, the pause and both directions of the wire come to, in cells.",
                  "IEEE 802.1Qbb without delays of interfaces"},
                 headroom,
                 {Bytes(0), MAX_BYTES});
    visitor.Size(
        {"resumeOffset", "How far below its threshold a paused one goes on.", "HPCC's simulator"},
        resumeOffset,
        {Bytes(0), MAX_BYTES});
    visitor.Duration(
        {"pauseTime", "How long a pause lasts; it is renewed in time. inf: until told."},
        pauseTime,
        {Time::Nanoseconds(1), Time::Infinite()});
    visitor.Size({"portQueue", "Most bytes in the queue of a lossy class; 0: alpha says."},
                 portQueue,
                 {Bytes(0), MAX_BYTES});
    visitor.Count({"losslessClasses",
                   "Classes of data, from the first on, that are paused (pfc); packets of the "
                   "others are dropped where their queue has no room."},
                  losslessClasses,
                  {0, 7});
    visitor.Flag({"classByHop",
                  "A packet is a class higher behind each link from switch to switch, unless it "
                  "goes on from one within a group to one between groups: so no cycle of packets "
                  "can wait for each other. Needs as many trafficClasses, and losslessClasses "
                  "under pauses, as the longest path has: 2 in a dragonfly, 3 with detours.",
                  "virtual channels by hop (Guenther, IEEE Trans. Communications 1981; for "
                  "dragonflies Kim et al., ISCA 2008)"},
                 classByHop);
    visitor.Flag(
        {"trim", "Cut off the payload of packets that find no room, and pass on the rest."}, trim);
    visitor.Number({"trimTail",
                    "Probability with which a full queue trims its newest packet, and takes the "
                    "one that comes in its place; by chance, so that senders in step with each "
                    "other do not lose all to one. 0: the one that comes is always trimmed.",
                    "NDP's switches (Handley et al., SIGCOMM 2017, section 3.1) and htsim: 0.5"},
                   trimTail,
                   {0, 1});
    visitor.Size({"controlQueue",
                  "Bytes of control packets, among them what is left of trimmed ones, that wait at "
                  "a port of a switch that trims; others are dropped. 0: twice portQueue, or any "
                  "number where that is 0.",
                  "htsim: twice the queue of data"},
                 controlQueue,
                 {Bytes(0), MAX_BYTES});
    visitor.Count(
        {"controlRun",
         "Control packets that such a port sends one after another while data waits; then "
         "data has a turn. 0: any number, so that headers of senders that do not slow "
         "down may keep it waiting for ever.",
         "Weir; NDP's switches (section 3.1): 10, htsim: 100000"},
        controlRun,
        {0, 1u << 30});
    visitor.Flag({"cutThrough", "Pass packets on as soon as their header is there."}, cutThrough);
    visitor.Size({"creditBuffer",
                  "Receive buffer of a link and lane (credits); 0: what one flow needs for the "
                  "whole rate. Flows that leave by several ports hold each other up in it."},
                 creditBuffer,
                 {Bytes(0), MAX_BYTES});
    visitor.Size({"creditUnit", "Bytes of one credit.", "InfiniBand: 64"},
                 creditUnit,
                 {Bytes(1), Bytes::KiB(64)});
    visitor.Duration({"creditDelay", "From a packet's leaving to its credits' leaving."},
                     creditDelay,
                     {Time(), MAX_TIME});
    visitor.Flag({"marks", "Mark packets (ECN)."}, marks);
    visitor.Flag({"markRoots",
                  "Mark only where congestion begins: no packet that had to wait for credits or "
                  "a pause at the head of its queue.",
                  "InfiniBand Architecture, annex A10"},
                 markRoots);
    visitor.Size({"markFrom", "Queue from which on packets are marked (Kmin).", "HPCC's simulator"},
                 markFrom,
                 {Bytes(0), MAX_BYTES});
    visitor.Size({"markAll", "Queue from which on all are (Kmax).", "HPCC's simulator"},
                 markAll,
                 {Bytes(0), MAX_BYTES});
    visitor.Number(
        {"markProbability", "Part of packets that are at markAll (Pmax).", "HPCC's simulator"},
        markProbability,
        {0, 1});
    visitor.DataRate(
        {"markRate", "Link rate that markFrom and markAll are for; 0: they are for all."},
        markRate,
        {Rate(), Rate::Gbps(1e6)});
    visitor.Enum<MarkingPlace>(
        {"markAt", "Whether the queue is looked at when a packet leaves it, or comes."},
        markAt,
        {{"dequeue", MarkingPlace::Dequeue}, {"enqueue", MarkingPlace::Enqueue}});
}

void
ArbitrationSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Text({"highTable",
                  "Classes of data that ports serve first, with their weights in units of 64 "
                  "bytes, as 1:64,2:128; empty: none.",
                  "InfiniBand Architecture, volume 1, 7.6.9; text as OpenSM's vlarb_high"},
                 highTable);
    visitor.Text({"lowTable",
                  "Classes that they serve after it, with their weights; empty: all that highTable "
                  "has not, one packet each in turns."},
                 lowTable);
    visitor.Size({"highLimit",
                  "Bytes that highTable may send before lowTable may send a packet; 0: one "
                  "packet."},
                 highLimit,
                 {Bytes(0), MAX_BYTES});
}

uint32_t
NodeLinkSpec::BurstOf(int64_t bytes) const
{
    constexpr int64_t PARTS = 16;
    constexpr int64_t PACKET = 256;
    constexpr int64_t LEAST = 1024;
    const int64_t part = (bytes + PARTS * PACKET - 1) / (PARTS * PACKET) * PACKET;
    return static_cast<uint32_t>(std::min(burst.Count(), std::max(LEAST, part)));
}

void
NodeLinkSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Size({"nvlinkBuffer",
                  "Receive buffer of an NVLink; 0: what one flow needs for the whole rate, at an "
                  "NVSwitch for each port by which packets may leave, so that none holds others "
                  "up: NVIDIA calls NVSwitches non-blocking."},
                 nvlinkBuffer,
                 {Bytes(0), MAX_BYTES});
    visitor.Size({"pcieBuffer",
                  "Receive buffer of a PCIe link for either kind of data; 0: enough for the whole "
                  "rate."},
                 pcieBuffer,
                 {Bytes(0), MAX_BYTES});
    visitor.Size({"pcieMaxPayload",
                  "Payload of a PCIe packet (TLP), each of which takes a header credit.",
                  "Max_Payload_Size of servers"},
                 pcieMaxPayload,
                 {Bytes(64), Bytes::KiB(4)});
    constexpr uint32_t MAX_CREDITS = 1u << 20;
    visitor.Count({"pciePostedHeaders",
                   "Header credits of a PCIe link for writes; 0: no bound. Without scaled flow "
                   "control at most 127."},
                  pciePostedHeaders,
                  {0, MAX_CREDITS});
    visitor.Count({"pciePostedData",
                   "The same of data, credits of 16 bytes; 0: as pcieBuffer has. Without scaled "
                   "flow control at most 2047."},
                  pciePostedData,
                  {0, MAX_CREDITS});
    visitor.Count({"pcieCompletionHeaders",
                   "Header credits of a PCIe link for what reads return, as network adapters send "
                   "from memory; 0: no bound."},
                  pcieCompletionHeaders,
                  {0, MAX_CREDITS});
    visitor.Count(
        {"pcieCompletionData", "The same of data, credits of 16 bytes; 0: as pcieBuffer has."},
        pcieCompletionData,
        {0, MAX_CREDITS});
    visitor.Count({"pcieReadTags",
                   "Read requests that a network adapter has under way to what it sends from; 0: "
                   "no bound."},
                  pcieReadTags,
                  {0, 1u << 14});
    visitor.Size({"pcieReadRequest",
                  "Bytes that a read asks for (Max_Read_Request_Size).",
                  "default of PCI Express"},
                 pcieReadRequest,
                 {Bytes(128), Bytes::KiB(4)});
    visitor.Size({"nicBuffer",
                  "Packet buffer of a network adapter, for what comes from the network.",
                  "ConnectX-5: 2 MB a port"},
                 nicBuffer,
                 {Bytes(1), MAX_BYTES});
    visitor.Size(
        {"burst",
         "What is sent at once inside a node, where packets of 128 to 256 bytes follow each "
         "other; of a message at most a sixteenth, but 1 KiB."},
        burst,
        {Bytes(64), Bytes::MiB(1)});
}

void
SettleSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Flag({"replay",
                  "What flows that share links did once, from the first one's start until all was "
                  "quiet, they do again when they start again at the same times from each other, "
                  "there or where links are alike; queue pairs forget congestion in between.",
                  "memoization of Wormhole (NSDI 2026), with exact keys"},
                 replay);
    visitor.Number({"tolerance",
                    "As replay, and of those whose flows start at nearly the same times, too: what "
                    "is told may be moved by that part of the time since the first start, or of "
                    "what the flow that starts takes alone; what windows of time agree in to that "
                    "part goes on without packets. 0: none is moved, nothing averaged."},
                   tolerance,
                   {0, 1});
}

void
PacketSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count({"trafficClasses", "Classes of data, which ports serve as arbitration says."},
                  trafficClasses,
                  {1, 7});
    visitor.Duration({"clock",
                      "Transmission times are rounded down to whole ones of it, and whole ones to "
                      "one less; at 1ps to the nearest.",
                      "HPCC's simulator: 1ns"},
                     clock,
                     {Time::Picoseconds(1), Time::Microseconds(1)});
    visitor.Seed({"packetSeed", "Of what switches draw when they mark or trim."}, seed);
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
