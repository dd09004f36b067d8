// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_PRINT_NOTES_H
#define WEIR_SCENARIOS_COMMAND_PRINT_NOTES_H

#include <string>
#include <vector>

namespace weir
{

/** Prints @p notes of what has no effect on standard error, a line each. */
void PrintNotes(const std::vector<std::string>& notes);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_PRINT_NOTES_H
