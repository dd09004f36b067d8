// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_TOPOLOGY_COMMAND_H
#define WEIR_SCENARIOS_COMMAND_TOPOLOGY_COMMAND_H

#include "scenarios/command/commands.h"

namespace weir
{

Command AddTopologyCommand(CLI::App& application);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_TOPOLOGY_COMMAND_H
