// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H
#define WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H

#include "fabric/fabric.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI
{
class App;
} // namespace CLI

namespace weir
{

struct RunResult;
enum class Fidelity : uint8_t;

/** Command-line options about the transport. */
struct PacketsOptions
{
    std::string network;               //!< YAML file; empty: defaults
    std::string congestionControl;     //!< its kind; empty: that of the file
    std::vector<std::string> settings; //!< key.path=value, of the network or the system
};

/** The values of --set by target, each in order. */
struct Settings
{
    std::vector<std::string> system;
    std::vector<std::string> network;
};

/** Splits @p settings by the first part of their keys. @throws InputError at a key of neither. */
Settings SplitSettings(const std::vector<std::string>& settings);

/**
 * @throws InputError where @p settings set @p key, which @p option sets too, or a map that contains
 *         it.
 */
void ExpectOneOf(const std::string& option,
                 const std::string& key,
                 const std::vector<std::string>& settings);

/** Adds `--network FILE`, `--congestion-control KIND` and `--set KEY=VALUE` to @p verb. */
void AddPacketsOptions(CLI::App& verb, PacketsOptions& options);

/**
 * The network map given by the options, with settings applied. The file is read once: it may be a
 * pipe.
 */
YamlNode LoadNetwork(const PacketsOptions& options);

/** As above, with @p network in place of the file. */
YamlNode LoadNetwork(const PacketsOptions& options, YamlNode network);

/**
 * The transport of @p fidelity, from @p network, the result of LoadNetwork.
 * @param others keys that the caller reads
 * @throws InputError at a value that is wrong, or has no effect in that fidelity.
 */
TransportSpec ReadTransportSpec(const PacketsOptions& options,
                                const YamlNode& network,
                                Fidelity fidelity,
                                const std::vector<std::string>& others = {});

/** `corrections` of @p network as given, for provenance; empty: none. */
std::string CorrectionsText(const YamlNode& network);

/**
 * Prints to standard error which times of @p packets, read from @p network, are shorter than the
 * round trip of the paths that were taken.
 */
void PrintIdlePathNotes(const YamlNode& network,
                        const PacketSpec& packets,
                        const RunResult& result);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H
