// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_PRINT_NOTES_H
#define WEIR_SCENARIOS_COMMAND_PRINT_NOTES_H

#include "scenarios/scenario.h"

namespace weir
{

/** Prints what of @p scenario has no effect on standard error, a line each. */
void PrintNotes(const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_PRINT_NOTES_H
