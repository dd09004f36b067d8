// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/network-use-notes.h"

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/swift.h"
#include "fabric/transport/packet/congestion/timely.h"
#include "scenarios/readers/read-nccl.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir
{
namespace
{

/** Adds a note for each of @p keys in @p map that has no effect according to one of @p uses. */
void
AddNotes(const YamlNode& map,
         const std::vector<std::string>& keys,
         const std::vector<KeyUse>& uses,
         std::vector<std::string>& notes)
{
    for (const KeyUse& use : uses)
    {
        for (const std::string& key : use.keys)
        {
            const bool isMeant = std::find(keys.begin(), keys.end(), key) != keys.end();
            const auto found = isMeant && !use.hasEffect ? map.Find(key) : std::nullopt;
            if (found)
            {
                notes.push_back(NoteOnNoEffect(*found, use.needs));
            }
        }
    }
}

std::vector<KeyUse>
UsesOfQueuePairs(const QueuePairSpec& pair, const PacketSurroundings& around)
{
    const bool isSelective = pair.recovery == LossRecovery::Selective;
    return {{{"reordering", "ackBitmap"}, isSelective, "recovery: selective"},
            {{"nackInterval"}, !isSelective, "recovery: go-back-n"},
            {{"ackDelay"}, pair.ackEvery > 1, "ackEvery above 1"},
            {{"messageGap"},
             around.hasMessages,
             "queue pairs with several messages; each flow of weir flows is a queue pair"},
            {{"paths", "distinctPaths", "pathChoice"},
             around.routing.GetScope() == RoutingPolicy::Scope::Packet,
             "a fabric with routing: spray"}};
}

std::vector<KeyUse>
UsesOfSwitches(const SwitchSpec& of, uint32_t trafficClasses)
{
    const bool arePaused = of.flowControl == FlowControl::Pfc;
    const bool isLossy =
        of.flowControl == FlowControl::None || (arePaused && trafficClasses > of.losslessClasses);
    const std::string lossy = "flowControl: none, or a class beyond losslessClasses";
    return {{{"trim"}, isLossy || (arePaused && of.headroom != SwitchSpec().headroom), lossy},
            {{"trimTail", "controlQueue", "controlRun"}, of.trim, "trim: true"},
            {{"portQueue"}, isLossy, lossy},
            {{"headroom", "resumeOffset", "pauseTime", "losslessClasses"},
             arePaused,
             "flowControl: pfc"},
            {{"classByHop"}, of.flowControl != FlowControl::None, "flowControl: pfc or credits"},
            {{"creditBuffer"}, of.flowControl == FlowControl::Credits, "flowControl: credits"},
            {{"markFrom", "markAll", "markProbability", "markRate", "markAt", "markRoots"},
             of.marks,
             "marks: true"}};
}

/** DCQCN reduces its rate only on ECN marks. */
void
AddNoteOnMarks(const YamlNode& network, const PacketSpec& spec, std::vector<std::string>& notes)
{
    const auto part = network.Find("switch");
    const auto marks = part && part->IsMap() ? part->Find("marks") : std::nullopt;
    if (marks && !spec.switches.marks && spec.congestionControl.Is<Dcqcn>())
    {
        notes.push_back(marks->Where() + ": found '" + marks->AsString() +
                        "' with congestionControl dcqcn, which reduces rates only on marks, so "
                        "that no flow slows down");
    }
}

/** Reordered packets need a receiver that tolerates reordering. */
void
AddNoteOnOrder(const YamlNode& network,
               const QueuePairSpec& pair,
               const RoutingPolicy& routing,
               std::vector<std::string>& notes)
{
    const bool isSelective = pair.recovery == LossRecovery::Selective;
    const auto part = network.Find("queuePair");
    const auto found =
        part && part->IsMap() ? part->Find(isSelective ? "reordering" : "recovery") : std::nullopt;
    if (found && routing.GetScope() == RoutingPolicy::Scope::Packet &&
        !(isSelective && pair.reordering > 0u))
    {
        notes.push_back(found->Where() + ": found '" + found->AsString() + "' with routing '" +
                        routing.Name() +
                        "', where each overtaken packet is retransmitted: it needs recovery: "
                        "selective and a reordering");
    }
}

/** States that @p keys have an effect only in @p fidelities. */
KeyUse
OfFidelities(std::vector<std::string> keys,
             Fidelity fidelity,
             const std::vector<Fidelity>& fidelities)
{
    std::string needs = "fidelity ";
    for (const Fidelity each : fidelities)
    {
        needs += each == fidelities.front() ? "" : each == fidelities.back() ? " or " : ", ";
        needs += ToString(each);
    }
    const bool isAmong =
        std::find(fidelities.begin(), fidelities.end(), fidelity) != fidelities.end();
    return {std::move(keys), isAmong, needs};
}

std::vector<KeyUse>
NetworkUses(const Scenario& scenario)
{
    const Fidelity fidelity = scenario.fidelity;
    return {OfFidelities({"tolerance"}, fidelity, {Fidelity::Auto}),
            OfFidelities({"packets", "coupling"}, fidelity, {Fidelity::Hybrid}),
            OfFidelities({"sharing"},
                         fidelity,
                         {Fidelity::Stream, Fidelity::Flow, Fidelity::Hybrid, Fidelity::Auto}),
            OfFidelities(PacketKeys(), fidelity, {Fidelity::Packet, Fidelity::Hybrid}),
            {{"nccl"},
             !scenario.jobs.empty() || !scenario.collectives.empty(),
             "a training or collective job"}};
}

/** Conditions for the keys of `nccl.dimensionWise`. */
std::vector<KeyUse>
DimensionWiseUses(const Scenario& scenario)
{
    const auto isCalled = [&](std::optional<CollectiveOp> op) {
        for (const CollectiveJobSpec& job : scenario.collectives)
        {
            for (const CalledCollective& call : job.sequence)
            {
                if (call.overrides.algorithm == Algorithm::DimensionWise &&
                    call.op == op.value_or(call.op))
                {
                    return true;
                }
            }
        }
        return false;
    };
    return {{{"perDimension", "chunks", "balanced", "endpointDelay"},
             isCalled({}),
             "a call of algorithm dimension-wise"},
            {{"dispatch", "expertGroups"},
             isCalled(CollectiveOp::AllToAll),
             "an all-to-all of algorithm dimension-wise"},
            {{"density", "selectionRate"},
             isCalled(CollectiveOp::AllReduce),
             "an all-reduce of algorithm dimension-wise"}};
}

} // namespace

std::string
NoteOnNoEffect(const YamlNode& found, const std::string& needs)
{
    return found.Where() + ": found " + (found.IsScalar() ? "'" + found.AsString() + "'" : "it") +
           ", which has no effect here: it needs " + needs;
}

std::vector<std::string>
NotesOnPacketUse(const YamlNode& network, PacketSpec spec, const PacketSurroundings& around)
{
    PacketSpec plain;
    const auto plainParts = plain.Parts();
    QueuePairSpec pair = spec.queuePair;
    FillRecovery(pair, around.routing.GetScope() == RoutingPolicy::Scope::Packet);
    std::vector<std::string> notes;
    for (const auto& [name, part] : spec.Parts())
    {
        const auto map = network.Find(name);
        if (!map || !map->IsMap())
        {
            continue;
        }
        const auto isPlain = [name = std::string(name)](const auto& each) {
            return each.first == name;
        };
        const auto same = std::find_if(plainParts.begin(), plainParts.end(), isPlain);
        const std::vector<std::string> keys = ChangedKeys(*part, *same->second);
        std::vector<KeyUse> uses;
        if (part == &spec.queuePair)
        {
            uses = UsesOfQueuePairs(pair, around);
        }
        else if (part == &spec.switches)
        {
            uses = UsesOfSwitches(spec.switches, spec.trafficClasses);
        }
        else if (part == &spec.arbitration)
        {
            uses = {{{"highLimit"}, !spec.arbitration.highTable.empty(), "a highTable"}};
        }
        else if (part == &spec.nodeLinks)
        {
            uses = {{keys, around.hasNodes, "nodes with GPUs, which a topology of hosts lacks"}};
        }
        AddNotes(*map, keys, uses, notes);
    }
    AddNoteOnMarks(network, spec, notes);
    AddNoteOnOrder(network, pair, around.routing, notes);
    return notes;
}

std::vector<std::string>
NotesOnIdlePath(const PacketSpec& spec, const IdlePathResult& path)
{
    std::vector<std::string> notes;
    const std::string below = ", below the " + FormatSeconds(path.roundTrip.ToSeconds()) +
                              " that a full packet and its acknowledgment take on the idle path "
                              "from " +
                              path.from + " to " + path.to;
    const auto found = [](Time value, Time plain) {
        return (value == plain ? "found its default, " : "found ") + FormatTime(value);
    };
    const Time timeout = spec.queuePair.retransmissionTimeout;
    if (timeout < path.roundTrip)
    {
        notes.push_back("queuePair.retransmissionTimeout: " +
                        found(timeout, QueuePairSpec().retransmissionTimeout) + below +
                        ": packets that are not lost are retransmitted, which slows flows");
    }
    const std::string slow = ": flows slow down even without contention";
    if (spec.congestionControl.Is<Swift>())
    {
        const Swift& swift = spec.congestionControl.As<Swift>();
        const Time aim = swift.target + swift.perHop * static_cast<double>(path.hops);
        if (aim < path.roundTrip)
        {
            notes.push_back("congestionControl.target: " + found(swift.target, Swift().target) +
                            ", and with perHop " + FormatSeconds(aim.ToSeconds()) + below + slow);
        }
    }
    if (spec.congestionControl.Is<Timely>())
    {
        const Timely& timely = spec.congestionControl.As<Timely>();
        const Time limit = timely.patched ? timely.low : timely.high;
        if (limit < path.roundTrip)
        {
            notes.push_back(std::string("congestionControl.") + (timely.patched ? "low" : "high") +
                            ": " + found(limit, timely.patched ? Timely().low : Timely().high) +
                            below + slow);
        }
    }
    return notes;
}

std::vector<std::string>
NotesOnLateEvents(const std::vector<EventSpec>& events, Time end)
{
    std::vector<std::string> notes;
    for (const EventSpec& event : events)
    {
        if (event.at > end)
        {
            notes.push_back(event.where + ": found it at " + FormatSeconds(event.at.ToSeconds()) +
                            ", which has no effect here: the run ends at " +
                            FormatSeconds(end.ToSeconds()));
        }
    }
    return notes;
}

std::vector<std::string>
NotesOnEventUse(const Scenario& scenario)
{
    std::vector<std::string> notes;
    for (const EventSpec& event : scenario.events)
    {
        if (event.kind == EventKind::SlowGpu && scenario.jobs.empty())
        {
            notes.push_back(
                event.where +
                ": found slow-gpu, which has no effect here: it needs a training or workload job");
        }
    }
    return notes;
}

std::vector<std::string>
NotesOnNetworkUse(const YamlNode& network, const Scenario& scenario)
{
    std::vector<std::string> notes;
    AddNotes(network, network.Keys(), NetworkUses(scenario), notes);
    const auto nccl = network.Find("nccl");
    if (const auto version = nccl && nccl->IsMap() ? nccl->Find("version") : nccl)
    {
        if (std::string note = NoteOnNcclVersion(*version); !note.empty())
        {
            notes.push_back(std::move(note));
        }
    }
    const auto dimensionWise = nccl && nccl->IsMap() ? nccl->Find("dimensionWise") : std::nullopt;
    if (dimensionWise)
    {
        AddNotes(*dimensionWise, dimensionWise->Keys(), DimensionWiseUses(scenario), notes);
    }
    if (scenario.fidelity == Fidelity::Packet || scenario.fidelity == Fidelity::Hybrid)
    {
        for (std::string& note :
             NotesOnPacketUse(network, scenario.packets, {*scenario.cluster.fabric.routing}))
        {
            notes.push_back(std::move(note));
        }
    }
    return notes;
}

} // namespace weir
