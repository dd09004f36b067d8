// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_FLOWS_COMMAND_H
#define WEIR_SCENARIOS_COMMAND_FLOWS_COMMAND_H

#include "scenarios/command/commands.h"

namespace weir
{

/** `weir flows`: plays a researcher's own flows on a topology file or a system. */
Command AddFlowsCommand(CLI::App& application);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_FLOWS_COMMAND_H
