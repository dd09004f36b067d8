// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/kind-option.h"
#include "scenarios/results/text-table.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace weir
{

namespace
{

constexpr std::size_t TITLE_WIDTH = 72;

ExitCode
List(const std::string& kind)
{
    TextTable table(2);
    for (const auto& entry : Catalog().List(ParseKind(kind)))
    {
        table.Row({entry.name, Shorten(entry.title, TITLE_WIDTH)});
    }
    std::cout << table.Print();
    return ExitCode::Done;
}

} // namespace

Command
AddListCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("list", "List what the catalogue has");
    auto kind = std::make_shared<std::string>();
    verb->add_option("KIND", *kind, "systems, models, runs, gpus, calibrations or suites")
        ->required();
    verb->footer(
        "Examples:\n"
        "  weir list systems\n"
        "  weir list runs\n"
        "The catalogue also has what the folders of WEIR_DATA_PATH hold.");
    return {verb, [kind] { return List(*kind); }};
}

} // namespace weir
