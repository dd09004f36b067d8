// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/packets-option.h"

#include "scenarios/command/verb-options.h"

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "scenarios/readers/network-use-notes.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/nearest-name.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <utility>

namespace weir
{

namespace
{

/** The keys of how packets move, or a fluid. */
std::vector<std::string>
NetworkKeys()
{
    PacketSpec packets;
    std::vector<std::string> keys = KeysOf(packets);
    keys.insert(keys.end(), {"congestionControl", "sharing", "corrections"});
    for (const auto& [key, part] : packets.Parts())
    {
        keys.emplace_back(key);
    }
    return keys;
}

bool
Has(const std::vector<std::string>& keys, const std::string& key)
{
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

} // namespace

Settings
SortSettings(const std::vector<std::string>& settings)
{
    const std::vector<std::string> ofNetwork = NetworkKeys();
    const std::vector<std::string> ofSystem = YamlKeysOf("system");
    Settings sorted;
    for (const std::string& setting : settings)
    {
        const std::string key = setting.substr(0, setting.find_first_of(".="));
        if (Has(ofNetwork, key) || key.empty())
        {
            sorted.network.push_back(setting);
        }
        else if (Has(ofSystem, key))
        {
            sorted.system.push_back(setting);
        }
        else
        {
            std::vector<std::string> all = ofSystem;
            all.insert(all.end(), ofNetwork.begin(), ofNetwork.end());
            throw InputError("--set " + setting + ": found '" + key +
                             "', expected a key of a system: " + JoinNames(ofSystem) +
                             "; or of network: " + JoinNames(ofNetwork) + DidYouMean(key, all));
        }
    }
    return sorted;
}

void
ExpectOneOf(const std::string& option,
            const std::string& key,
            const std::vector<std::string>& settings)
{
    for (const std::string& setting : settings)
    {
        const std::string set = setting.substr(0, setting.find('='));
        if (set == key || key.rfind(set + ".", 0) == 0)
        {
            throw InputError(option + ": found --set " + setting + " beside it, expected one of " +
                             "the two");
        }
    }
}

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
    AddSettingsOption(verb,
                      options.settings,
                      "the system or of --network, such as fabric.routing=spray or "
                      "switch.buffer=16MiB");
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
    std::vector<std::string> settings = SortSettings(options.settings).network;
    if (!options.congestionControl.empty())
    {
        ExpectOneOf("--congestion-control", "congestionControl.kind", settings);
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
    const std::vector<std::string> settings = SortSettings(options.settings).network;
    FluidOptions read;
    const char* option = !options.network.empty()             ? "--network"
                         : !options.congestionControl.empty() ? "--congestion-control"
                         : !settings.empty()                  ? "--set"
                                                              : nullptr;
    if (option == nullptr)
    {
        return read;
    }
    YamlNode node = options.network.empty() ? YamlNode::Parse("{}", "--network")
                                            : YamlNode::Load(options.network);
    ApplySettings(node, settings);
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
