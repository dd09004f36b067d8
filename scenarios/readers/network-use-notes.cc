// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/network-use-notes.h"

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/packet/congestion/swift.h"
#include "fabric/transport/packet/congestion/timely.h"
#include "scenarios/readers/read-nccl.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir
{
namespace
{

/** Keys of a part that are not at their defaults, and whether they have an effect. */
struct PacketUse
{
    const char* part;
    std::vector<std::pair<const char*, bool>> keys; //!< and whether the value is another
    bool hasEffect;
    const char* needs; //!< what would make it so
};

std::vector<PacketUse>
UsesOfQueuePairs(const QueuePairSpec& pair, const RoutingPolicy& routing)
{
    QueuePairSpec plain;
    FillRecovery(plain, routing.GetScope() == RoutingPolicy::Scope::Packet);
    const bool isSelective = pair.recovery == LossRecovery::Selective;
    const char* part = "queuePair";
    return {{part,
             {{"reordering", pair.reordering != plain.reordering},
              {"ackBitmap", pair.ackBitmap != plain.ackBitmap}},
             isSelective,
             "recovery: selective"},
            {part,
             {{"nackInterval", pair.nackInterval != plain.nackInterval}},
             !isSelective,
             "recovery: go-back-n"},
            {part,
             {{"paths", pair.paths != plain.paths},
              {"distinctPaths", pair.distinctPaths != plain.distinctPaths},
              {"pathChoice", pair.pathChoice != plain.pathChoice}},
             routing.GetScope() == RoutingPolicy::Scope::Packet,
             "a fabric with routing: spray"}};
}

std::vector<PacketUse>
UsesOfSwitches(const SwitchSpec& of, uint32_t trafficClasses)
{
    const SwitchSpec plain;
    const bool arePaused = of.flowControl == FlowControl::Pfc;
    const bool isLossy =
        of.flowControl == FlowControl::None || (arePaused && trafficClasses > of.losslessClasses);
    const char* part = "switch";
    return {{part,
             {{"trim", of.trim != plain.trim}},
             isLossy || (arePaused && of.headroom != plain.headroom),
             "flowControl: none, or a class beyond losslessClasses"},
            {part,
             {{"trimTail", of.trimTail != plain.trimTail},
              {"controlQueue", of.controlQueue != plain.controlQueue},
              {"controlRun", of.controlRun != plain.controlRun}},
             of.trim,
             "trim: true"},
            {part,
             {{"portQueue", of.portQueue != plain.portQueue}},
             isLossy,
             "flowControl: none, or a class beyond losslessClasses"},
            {part,
             {{"headroom", of.headroom != plain.headroom},
              {"resumeOffset", of.resumeOffset != plain.resumeOffset},
              {"pauseTime", of.pauseTime != plain.pauseTime},
              {"losslessClasses", of.losslessClasses != plain.losslessClasses}},
             arePaused,
             "flowControl: pfc"},
            {part,
             {{"classByHop", of.classByHop != plain.classByHop}},
             of.flowControl != FlowControl::None,
             "flowControl: pfc or credits"},
            {part,
             {{"creditBuffer", of.creditBuffer != plain.creditBuffer}},
             of.flowControl == FlowControl::Credits,
             "flowControl: credits"},
            {part,
             {{"markFrom", of.markFrom != plain.markFrom},
              {"markAll", of.markAll != plain.markAll},
              {"markProbability", of.markProbability != plain.markProbability},
              {"markRate", of.markRate != plain.markRate},
              {"markAt", of.markAt != plain.markAt},
              {"markRoots", of.markRoots != plain.markRoots}},
             of.marks,
             "marks: true"}};
}

/** Packets that overtake each other need a receiver that expects it. */
void
AddNoteOnOrder(const YamlNode& network,
               const QueuePairSpec& pair,
               const RoutingPolicy& routing,
               std::vector<std::string>& notes)
{
    const bool isSelective = pair.recovery == LossRecovery::Selective;
    if (routing.GetScope() != RoutingPolicy::Scope::Packet || (isSelective && pair.reordering > 0u))
    {
        return;
    }
    const std::string key = isSelective ? "reordering" : "recovery";
    const std::string value = isSelective ? "0" : "go-back-n";
    const auto part = network.Find("queuePair");
    const auto found = part && part->IsMap() ? part->Find(key) : std::nullopt;
    const bool isOfFile = network.File().rfind("--", 0) != 0; // else there is no place to name
    notes.push_back((found ? found->Where() + ": found '" + value + "'"
                           : (isOfFile ? network.Where() + ": " : "") + "queuePair." + key +
                                 ": found its default, " + value + ",") +
                    " with routing '" + routing.Name() +
                    "', where each packet that is overtaken is sent again: it needs recovery: "
                    "selective and a reordering");
}

using Fidelities = std::vector<Fidelity>;

/** A condition under which some keys have an effect. */
struct NetworkUse
{
    std::vector<std::string> keys;
    std::function<bool(const Scenario&)> hasEffect;
    std::string needs; //!< what would make it so
};

NetworkUse
OfFidelities(std::vector<std::string> keys, const Fidelities& fidelities)
{
    std::string needs = "fidelity ";
    for (const Fidelity each : fidelities)
    {
        needs += each == fidelities.front() ? "" : each == fidelities.back() ? " or " : ", ";
        needs += ToString(each);
    }
    return {std::move(keys),
            [fidelities](const Scenario& scenario) {
                return std::find(fidelities.begin(), fidelities.end(), scenario.fidelity) !=
                       fidelities.end();
            },
            needs};
}

std::vector<NetworkUse>
NetworkUses()
{
    std::vector<std::string> packetKeys{"congestionControl"};
    PacketSpec packets;
    for (const auto& [key, part] : packets.Parts())
    {
        packetKeys.emplace_back(key);
    }
    const std::vector<std::string> own = KeysOf(packets);
    packetKeys.insert(packetKeys.end(), own.begin(), own.end());
    return {OfFidelities({"tolerance"}, {Fidelity::Auto}),
            OfFidelities({"packets", "coupling"}, {Fidelity::Hybrid}),
            OfFidelities({"sharing"},
                         {Fidelity::Stream, Fidelity::Flow, Fidelity::Hybrid, Fidelity::Auto}),
            OfFidelities(packetKeys, {Fidelity::Packet, Fidelity::Hybrid}),
            {{"nccl"},
             [](const Scenario& scenario) {
                 return !scenario.jobs.empty() || !scenario.collectives.empty();
             },
             "a job that is a training or a collective"}};
}

/** Of `nccl.dimensionWise`, where @p isCalled says whether a call of an operation runs so. */
std::vector<NetworkUse>
DimensionWiseUses()
{
    const auto isCalled = [](std::vector<CollectiveOp> ops) {
        return [ops](const Scenario& scenario) {
            for (const CollectiveJobSpec& job : scenario.collectives)
            {
                for (const CalledCollective& call : job.sequence)
                {
                    if (call.overrides.algorithm == Algorithm::DimensionWise &&
                        (ops.empty() || std::find(ops.begin(), ops.end(), call.op) != ops.end()))
                    {
                        return true;
                    }
                }
            }
            return false;
        };
    };
    return {{{"perDimension", "chunks", "balanced", "endpointDelay"},
             isCalled({}),
             "a call of algorithm dimension-wise"},
            {{"dispatch", "expertGroups"},
             isCalled({CollectiveOp::AllToAll}),
             "an all-to-all of algorithm dimension-wise"},
            {{"density", "selectionRate"},
             isCalled({CollectiveOp::AllReduce}),
             "an all-reduce of algorithm dimension-wise"}};
}

void
AddNotes(const YamlNode& map,
         const std::vector<NetworkUse>& uses,
         const Scenario& scenario,
         std::vector<std::string>& notes)
{
    for (const NetworkUse& use : uses)
    {
        for (const std::string& key : use.keys)
        {
            const auto found = map.Find(key);
            if (found && !use.hasEffect(scenario))
            {
                notes.push_back(found->Where() + ": found " +
                                (found->IsScalar() ? "'" + found->AsString() + "'" : "it") +
                                ", which has no effect here: it needs " + use.needs);
            }
        }
    }
}

} // namespace

std::vector<std::string>
NotesOnPacketUse(const YamlNode& network, const PacketSpec& spec, const RoutingPolicy& routing)
{
    QueuePairSpec pair = spec.queuePair;
    FillRecovery(pair, routing.GetScope() == RoutingPolicy::Scope::Packet);
    std::vector<PacketUse> uses = UsesOfQueuePairs(pair, routing);
    for (PacketUse& use : UsesOfSwitches(spec.switches, spec.trafficClasses))
    {
        uses.push_back(std::move(use));
    }
    std::vector<std::string> notes;
    for (const PacketUse& use : uses)
    {
        const auto part = network.Find(use.part);
        if (use.hasEffect || !part || !part->IsMap())
        {
            continue;
        }
        for (const auto& [key, isOther] : use.keys)
        {
            const auto found = isOther ? part->Find(key) : std::nullopt;
            if (found)
            {
                notes.push_back(found->Where() + ": found '" + found->AsString() +
                                "', which has no effect here: it needs " + use.needs);
            }
        }
    }
    AddNoteOnOrder(network, pair, routing, notes);
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
                        ": packets that are not lost are sent again, and flows take longer");
    }
    const std::string slow = ": flows slow down where nobody else sends";
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
            notes.push_back(event.where +
                            ": found slow-gpu, which has no effect here: it needs a job that is a "
                            "training or a workload");
        }
    }
    return notes;
}

std::vector<std::string>
NotesOnNetworkUse(const YamlNode& network, const Scenario& scenario)
{
    std::vector<std::string> notes;
    AddNotes(network, NetworkUses(), scenario, notes);
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
        AddNotes(*dimensionWise, DimensionWiseUses(), scenario, notes);
    }
    if (scenario.fidelity == Fidelity::Packet || scenario.fidelity == Fidelity::Hybrid)
    {
        for (std::string& note :
             NotesOnPacketUse(network, scenario.packets, *scenario.cluster.fabric.routing))
        {
            notes.push_back(std::move(note));
        }
    }
    return notes;
}

} // namespace weir
