// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/packet-use-notes.h"

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
    const QueuePairSpec plain;
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
    if (routing.GetScope() != RoutingPolicy::Scope::Packet || (isSelective && pair.reordering > 0))
    {
        return;
    }
    notes.push_back(network.Where() + ": found queuePair." +
                    (isSelective ? "reordering: 0" : "recovery: go-back-n") + " with routing '" +
                    routing.Name() +
                    "', where each packet that is overtaken is sent again: it needs recovery: "
                    "selective and a reordering");
}

} // namespace

std::vector<std::string>
NotesOnPacketUse(const YamlNode& network, const PacketSpec& spec, const RoutingPolicy& routing)
{
    std::vector<PacketUse> uses = UsesOfQueuePairs(spec.queuePair, routing);
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
    AddNoteOnOrder(network, spec.queuePair, routing, notes);
    return notes;
}

} // namespace weir
