// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_ENDED_CASE_H
#define WEIR_SCENARIOS_SWEEP_ENDED_CASE_H

#include "scenarios/yaml/text-file.h"

#include <string>
#include <vector>

namespace weir
{

/** How a case of a sweep ended. */
struct EndedCase
{
    int exit{0};                      //!< its exit code, as a shell has it
    std::string output{};             //!< what it printed: one JSON object when the exit code is 0
    std::string message{};            //!< the last line of its errors, without "weir: "
    std::vector<std::string> notes{}; //!< that it printed, without "weir: note: "
    std::vector<FileRead> files{};    //!< the program itself among them
};

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_ENDED_CASE_H
