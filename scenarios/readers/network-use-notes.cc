// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/network-use-notes.h"

#include "fabric/parameters/parameter-keys.h"
#include "scenarios/readers/packet-use-notes.h"
#include "scenarios/readers/read-nccl.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir
{
namespace
{

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
