// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/print-notes.h"

#include <iostream>

namespace weir
{

void
PrintNotes(const Scenario& scenario)
{
    for (const std::string& note : scenario.notes)
    {
        std::cerr << "weir: note: " << note << "\n";
    }
}

} // namespace weir
