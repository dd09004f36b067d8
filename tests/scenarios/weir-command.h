// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_WEIR_COMMAND_H
#define WEIR_TESTS_SCENARIOS_WEIR_COMMAND_H

#include "scratch-folder.h"

#include <cstdlib>
#include <string>
#include <sys/wait.h>

namespace weir
{

/** Output and exit code of a process. */
struct Outcome
{
    int exit;
    std::string out;
    std::string err;
};

/** Runs the command in @p folder, after @p setUp in the same shell. */
inline Outcome
Weir(const ScratchFolder& folder, const std::string& arguments, const std::string& setUp = "true")
{
    const ScratchFolder logs;
    const std::string line = "cd '" + (folder / "") + "' && " + setUp + " && '" WEIR_COMMAND "' " +
                             arguments + " >'" + (logs / "out") + "' 2>'" + (logs / "err") + "'";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            ScratchFolder::Read(logs / "out"),
            ScratchFolder::Read(logs / "err")};
}

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_WEIR_COMMAND_H
