// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H
#define WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H

#include "collectives/fidelity.h"
#include "fabric/routing/routing-policy.h"
#include "fabric/sharing/sharing-spec.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/yaml/yaml-node.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weir
{

/** What a user says of packets on the command line. */
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

/** A packet transport, and the map that it was read from. */
struct PacketsInput
{
    PacketSpec spec;
    YamlNode network;
};

/**
 * The packet transport that the options describe. The file is read once: it may be a pipe.
 * @throws InputError at what is wrong in the file or a setting.
 */
PacketsInput ReadPacketsOptions(const PacketsOptions& options);

/** As above, with @p network in place of the file. */
PacketsInput ReadPacketsOptions(const PacketsOptions& options, YamlNode network);

/** Prints on standard error which keys of @p packets have no effect with @p routing. */
void PrintPacketsNotes(const PacketsInput& packets, const RoutingPolicy& routing);

/** What a user says of a fluid. */
struct FluidOptions
{
    SharingSpec sharing;
    CorrectionSpec corrections;
    std::string correctionsText; //!< as given, for provenance; empty: none
};

/**
 * How a fluid shares links and what corrects it: all that the options may say where no packets
 * move.
 * @throws InputError when they say more, or anything where no links are shared.
 */
FluidOptions ReadFluidOptions(const PacketsOptions& options, Fidelity fidelity);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_PACKETS_OPTION_H
