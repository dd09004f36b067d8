// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/text-table.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace weir
{

namespace
{

constexpr std::size_t TITLE_WIDTH = 72;

struct ListOptions
{
    std::string kind;
    bool json{false};
};

ExitCode
ListAsJson(const std::vector<CatalogEntry>& entries)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CatalogEntry& entry : entries)
    {
        list.push_back({{"name", entry.name}, {"title", entry.title}, {"path", entry.path}});
    }
    std::cout << list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return ExitCode::Done;
}

ExitCode
List(const ListOptions& options)
{
    const auto entries = Catalog().List(ParseKind(options.kind));
    if (options.json)
    {
        return ListAsJson(entries);
    }
    const bool isTerminal = isatty(STDOUT_FILENO) == 1; // a pipe gets whole titles, for grep
    TextTable table(2);
    for (const auto& entry : entries)
    {
        table.Row({entry.name, isTerminal ? Shorten(entry.title, TITLE_WIDTH) : entry.title});
    }
    std::cout << table.Print();
    return ExitCode::Done;
}

} // namespace

Command
AddListCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("list", "List the contents of the catalog");
    auto options = std::make_shared<ListOptions>();
    std::string kinds;
    for (const auto& [plural, kind] : CatalogKinds())
    {
        kinds += kinds.empty() ? "" : kind == CatalogKind::Suites ? " or " : ", ";
        kinds += plural;
    }
    verb->add_option("KIND", options->kind, kinds)->required();
    verb->add_flag("--json", options->json, "Print an array of {name, title, path}");
    verb->footer(
        "Examples:\n"
        "  weir list systems\n"
        "  weir list runs\n"
        "The catalog includes the folders in WEIR_DATA_PATH.");
    return {verb, [options] { return List(*options); }};
}

} // namespace weir
