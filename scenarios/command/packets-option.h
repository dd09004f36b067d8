// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H
#define WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H

#include "collectives/fidelity.h"
#include "fabric/transport/make-transport.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/yaml/yaml-node.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weir
{

/** What a user says on the command line of how bytes move. */
struct PacketsOptions
{
    std::string network;               //!< YAML file; empty: defaults
    std::string congestionControl;     //!< its kind; empty: as the file says
    std::vector<std::string> settings; //!< key.path=value, of the network or the system
};

/** What --set says, each in its order. */
struct Settings
{
    std::vector<std::string> system;
    std::vector<std::string> network;
};

/** Sorts @p settings by their first keys. @throws InputError at one of neither. */
Settings SortSettings(const std::vector<std::string>& settings);

/** @throws InputError where @p settings have @p key, which @p option says, or a map of it. */
void ExpectOneOf(const std::string& option,
                 const std::string& key,
                 const std::vector<std::string>& settings);

/** Adds `--network FILE`, `--congestion-control KIND` and `--set KEY=VALUE` to @p verb. */
void AddPacketsOptions(CLI::App& verb, PacketsOptions& options);

/** The map that the options are, with settings. The file is read once: it may be a pipe. */
YamlNode LoadNetwork(const PacketsOptions& options);

/** As above, with @p network in place of the file. */
YamlNode LoadNetwork(const PacketsOptions& options, YamlNode network);

/**
 * How bytes move in @p fidelity by @p network, which LoadNetwork gave.
 * @param others keys that somebody else reads
 * @throws InputError at what is wrong, or has no effect in that fidelity.
 */
TransportSpec ReadTransportSpec(const PacketsOptions& options,
                                const YamlNode& network,
                                Fidelity fidelity,
                                const std::vector<std::string>& others = {});

/** `corrections` of @p network as given, for provenance; empty: none. */
std::string CorrectionsText(const YamlNode& network);

/**
 * Prints on standard error which times of @p packets, read from @p network, are too short for the
 * paths that were taken.
 */
void PrintIdlePathNotes(const YamlNode& network,
                        const PacketSpec& packets,
                        const RunResult& result);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H
