// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/packets-option.h"

#include "scenarios/command/verb-options.h"

#include "collectives/fidelity.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "scenarios/readers/key-uses.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/yaml-node.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace weir
{

namespace
{

/** The keys about packets and about the fluid. */
std::vector<std::string>
NetworkKeys()
{
    std::vector<std::string> keys = PacketKeys();
    keys.insert(keys.end(), {"sharing", "corrections", "packets", "coupling", "events"});
    return keys;
}

} // namespace

Settings
SplitSettings(const std::vector<std::string>& settings)
{
    const std::vector<std::string> ofNetwork = NetworkKeys();
    const std::vector<std::string> ofSystem = YamlKeysOf("system");
    Settings sorted;
    for (const std::string& setting : settings)
    {
        if (setting.find('=') == std::string::npos)
        {
            throw InputError("--set " + setting + ": found no '=', expected key.path=value");
        }
        const std::string key = setting.substr(0, setting.find_first_of(".="));
        if (IsAmong(key, ofNetwork) || key.empty())
        {
            sorted.network.push_back(setting);
        }
        else if (IsAmong(key, ofSystem))
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
                    "YAML file of packets, queue pairs, switches and congestion control (fidelity "
                    "packet), or of fluid link sharing; for weir flows also of events and of the "
                    "flows that move as packets, or a configuration of HPCC's simulator");
    verb.add_option("--congestion-control",
                    options.congestionControl,
                    "Congestion control: " + JoinNames(CongestionControls().Names()) +
                        "; overrides that of --network (fidelity packet)");
    AddSettingsOption(verb,
                      options.settings,
                      "the system or of --network, such as fabric.routing=spray or "
                      "switch.buffer=16MiB");
}

YamlNode
LoadNetwork(const PacketsOptions& options)
{
    return LoadNetwork(options,
                       options.network.empty() ? YamlNode::ParseArgument("{}", "--network")
                                               : YamlNode::Load(options.network));
}

YamlNode
LoadNetwork(const PacketsOptions& options, YamlNode network)
{
    std::vector<std::string> settings = SplitSettings(options.settings).network;
    if (!options.congestionControl.empty())
    {
        ExpectOneOf("--congestion-control", "congestionControl.kind", settings);
        settings.insert(settings.begin(), "congestionControl.kind=" + options.congestionControl);
    }
    ApplySettings(network, settings);
    return network;
}

namespace
{

/** Requires that @p network has only keys about the fluid, for fidelities without packets. */
void
ExpectFluidOnly(const PacketsOptions& options,
                const YamlNode& network,
                Fidelity fidelity,
                const std::vector<std::string>& others)
{
    std::vector<std::string> known = others;
    if (fidelity != Fidelity::Analytical)
    {
        known.insert(known.end(), {"sharing", "corrections"});
    }
    for (const std::string& key : network.Keys())
    {
        if (!IsAmong(key, known))
        {
            const auto& settings = options.settings;
            const auto setting =
                std::find_if(settings.begin(), settings.end(), [&key](const std::string& each) {
                    return each.substr(0, each.find_first_of(".=")) == key;
                });
            const bool isOption = key == "congestionControl" && !options.congestionControl.empty();
            const std::string location = setting != settings.end() ? "--set " + *setting
                                         : isOption                ? "--congestion-control"
                                                                   : network.Get(key).Where();
            throw InputError(location + ": found it with fidelity " + ToString(fidelity) +
                             ", expected --fidelity packet with it, or only sharing" +
                             (others.empty() ? "" : ", events") + " and corrections of a fluid");
        }
    }
}

} // namespace

TransportSpec
ReadTransportSpec(const PacketsOptions& options,
                  const YamlNode& network,
                  Fidelity fidelity,
                  const std::vector<std::string>& others)
{
    TransportSpec spec;
    std::vector<std::string> known = others;
    if (fidelity == Fidelity::Hybrid)
    {
        known.insert(known.end(), {"sharing", "coupling", "corrections"});
        spec.coupling.emplace();
        if (const auto coupling = network.Find("coupling"))
        {
            ReadParameters(*coupling, *spec.coupling);
        }
    }
    if (spec.coupling || FormOf(fidelity) == FlowForm::Packets)
    {
        spec.packets = ReadPackets(network, known);
    }
    else
    {
        ExpectFluidOnly(options, network, fidelity, others);
    }
    if (const auto sharing = network.Find("sharing"))
    {
        ReadParameters(*sharing, spec.sharing);
    }
    network.Read("corrections", spec.corrections, ReadCorrectionsFor, fidelity, Catalog());
    return spec;
}

std::string
CorrectionsText(const YamlNode& network)
{
    const auto corrections = network.Find("corrections");
    return !corrections              ? ""
           : corrections->IsScalar() ? corrections->AsString()
                                     : corrections->Dump();
}

void
PrintIdlePathNotes(const YamlNode& network, const PacketSpec& packets, const RunResult& result)
{
    if (!result.longestPath)
    {
        return;
    }
    for (const std::string& note : NotesOnIdlePath(packets, *result.longestPath))
    {
        PrintNotes({AddLocation(network, note)});
    }
}

} // namespace weir
