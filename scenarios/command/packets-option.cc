// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/packets-option.h"
#include "scenarios/command/print-notes.h"
#include "scenarios/command/verb-options.h"

#include "fabric/parameters/parameter-keys.h"
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "scenarios/readers/packet-use-notes.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/read-corrections.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/apply-settings.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/nearest-name.h"

#include <algorithm>
#include <utility>

namespace weir
{

namespace
{

/** Refuses settings of a run or a system: these reach the network alone. */
void
ExpectNetworkSettings(const std::vector<std::string>& settings)
{
    PacketSpec packets;
    std::vector<std::string> own = KeysOf(packets);
    own.insert(own.end(), {"congestionControl", "sharing", "corrections"});
    for (const auto& [key, part] : packets.Parts())
    {
        own.emplace_back(key);
    }
    std::vector<std::string> others = YamlKeysOf("run");
    const std::vector<std::string> ofSystem = YamlKeysOf("system");
    others.insert(others.end(), ofSystem.begin(), ofSystem.end());
    for (const std::string& setting : settings)
    {
        const std::string key = setting.substr(0, setting.find_first_of(".="));
        const auto isIn = [&key](const std::vector<std::string>& keys) {
            return std::find(keys.begin(), keys.end(), key) != keys.end();
        };
        if (isIn(others) && !isIn(own))
        {
            throw InputError("--set " + setting + ": found '" + key +
                             "', which --set does not reach here, expected a key of network: " +
                             JoinNames(own) + "; a system is changed in its file");
        }
    }
}

} // namespace

void
AddPacketsOptions(CLI::App& verb, PacketsOptions& options)
{
    verb.add_option("--network",
                    options.network,
                    "YAML file of packets, queue pairs, switches and congestion control, for weir "
                    "flows also a configuration of HPCC's simulator (fidelity packet)");
    verb.add_option("--congestion-control",
                    options.congestionControl,
                    "One of " + JoinNames(CongestionControls().Names()) + " (fidelity packet)");
    AddSettingsOption(verb, options.settings);
}

PacketsInput
ReadPacketsOptions(const PacketsOptions& options)
{
    return ReadPacketsOptions(options,
                              options.network.empty() ? YamlNode::ParseArgument("{}", "--network")
                                                      : YamlNode::Load(options.network));
}

PacketsInput
ReadPacketsOptions(const PacketsOptions& options, YamlNode node)
{
    ExpectNetworkSettings(options.settings);
    std::vector<std::string> settings = options.settings;
    if (!options.congestionControl.empty())
    {
        settings.insert(settings.begin(), "congestionControl.kind=" + options.congestionControl);
    }
    ApplySettings(node, settings);
    PacketSpec spec = ReadPackets(node);
    node.CheckAllRead({});
    return {std::move(spec), std::move(node)};
}

void
PrintPacketsNotes(const PacketsInput& packets, const RoutingPolicy& routing)
{
    PrintNotes(NotesOnPacketUse(packets.network, packets.spec, routing));
}

FluidOptions
ReadFluidOptions(const PacketsOptions& options, Fidelity fidelity)
{
    ExpectNetworkSettings(options.settings);
    FluidOptions read;
    const char* option = !options.network.empty()             ? "--network"
                         : !options.congestionControl.empty() ? "--congestion-control"
                         : !options.settings.empty()          ? "--set"
                                                              : nullptr;
    if (option == nullptr)
    {
        return read;
    }
    YamlNode node = options.network.empty() ? YamlNode::Parse("{}", "--network")
                                            : YamlNode::Load(options.network);
    ApplySettings(node, options.settings);
    const auto sharing = node.Find("sharing");
    const auto corrections = node.Find("corrections");
    const bool isFluidOnly = node.Keys().size() == (sharing ? 1u : 0u) + (corrections ? 1u : 0u);
    if (!options.congestionControl.empty() || fidelity == Fidelity::Analytical || !isFluidOnly)
    {
        throw InputError(std::string(option) + ": found it with fidelity " + ToString(fidelity) +
                         ", expected --fidelity packet with it, or nothing but sharing and "
                         "corrections of a fluid");
    }
    if (sharing)
    {
        ReadParameters(*sharing, read.sharing);
    }
    if (corrections)
    {
        read.corrections = ReadCorrections(*corrections, Catalog());
        read.correctionsText =
            corrections->IsScalar() ? corrections->AsString() : corrections->Dump();
        if (fidelity != Fidelity::Stream && fidelity != Fidelity::Flow)
        {
            corrections->Fail(std::string("found it with fidelity ") + ToString(fidelity) +
                              ", expected fidelity stream or flow: only a fluid is corrected");
        }
    }
    node.CheckAllRead({});
    return read;
}

} // namespace weir
