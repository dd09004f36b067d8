// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/packets-option.h"

#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "scenarios/command/settings-option.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/yaml/apply-settings.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/nearest-name.h"

#include <utility>

namespace weir
{

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

PacketSpec
ReadPacketsOptions(const PacketsOptions& options)
{
    return ReadPacketsOptions(options,
                              options.network.empty() ? YamlNode::Parse("{}", "--network")
                                                      : YamlNode::Load(options.network));
}

PacketSpec
ReadPacketsOptions(const PacketsOptions& options, YamlNode node)
{
    std::vector<std::string> settings = options.settings;
    if (!options.congestionControl.empty())
    {
        settings.insert(settings.begin(), "congestionControl.kind=" + options.congestionControl);
    }
    ApplySettings(node, settings);
    PacketSpec spec = ReadPackets(node);
    node.CheckAllRead({});
    return spec;
}

void
ExpectNoPacketsOptions(const PacketsOptions& options, const std::string& fidelity)
{
    const char* option = !options.network.empty()             ? "--network"
                         : !options.congestionControl.empty() ? "--congestion-control"
                         : !options.settings.empty()          ? "--set"
                                                              : nullptr;
    if (option != nullptr)
    {
        throw InputError(std::string(option) + ": found it with fidelity " + fidelity +
                         ", expected --fidelity packet with it");
    }
}

} // namespace weir
