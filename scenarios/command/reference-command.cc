// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/option-reference.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

namespace weir
{

Command
AddReferenceCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand(
        "reference", "Print what Weir knows of itself, for programs and documents");
    auto what = std::make_shared<std::string>();
    verb->add_option("WHAT", *what, "options (JSON), man or bash")
        ->required()
        ->check(CLI::IsMember({"options", "man", "bash"}));
    verb->footer(
        "Examples:\n"
        "  weir reference man | man -l -\n"
        "  source <(weir reference bash)");
    return {verb, [what, &application] {
                if (*what == "man")
                {
                    std::cout << ManPage(application);
                }
                else if (*what == "bash")
                {
                    std::cout << BashCompletion(application);
                }
                else
                {
                    std::cout << OptionsAsJson(application);
                }
                return ExitCode::Done;
            }};
}

} // namespace weir
