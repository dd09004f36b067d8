// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/print-notes.h"

#include <iostream>

namespace weir
{

void
PrintNotes(const std::vector<std::string>& notes)
{
    for (const std::string& note : notes)
    {
        std::cerr << "weir: note: " << note << "\n";
    }
}

} // namespace weir
