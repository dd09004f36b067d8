// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/option-reference.h"
#include "scenarios/describe/describe-keys.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/nearest-name.h"
#ifdef WEIR_WITH_NS3
#include "ns3/object-reference.h"
#endif

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace weir
{
namespace
{

using Json = nlohmann::ordered_json;

std::string
KeysAsJson()
{
    Json maps = Json::array();
    for (const YamlKeyMap& map : DescribeKeys())
    {
        Json keys = Json::array();
        for (const YamlKey& key : map.keys)
        {
            keys.push_back({{"key", key.name}, {"help", key.help}});
        }
        maps.push_back({{"map", map.name}, {"help", map.help}, {"keys", keys}});
    }
    return maps.dump(2) + "\n";
}

/** An empty array in a build without ns-3. */
std::string
AttributesAsJson()
{
    Json types = Json::array();
#ifdef WEIR_WITH_NS3
    const auto list = [](const std::vector<ns3::ObjectMember>& members) {
        Json items = Json::array();
        for (const ns3::ObjectMember& member : members)
        {
            items.push_back({{"name", member.name},
                             {"help", member.help},
                             {"type", member.type},
                             {"initial", member.initial}});
        }
        return items;
    };
    for (const ns3::ObjectType& type : ns3::DescribeObjectTypes())
    {
        types.push_back({{"type", type.name},
                         {"parent", type.parent},
                         {"attributes", list(type.attributes)},
                         {"traceSources", list(type.traceSources)}});
    }
#endif
    return types.dump(2) + "\n";
}

} // namespace

Command
AddReferenceCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand(
        "reference", "Print keys, options and attributes, for programs and documents");
    auto what = std::make_shared<std::string>();
    verb->add_option("WHAT",
                     *what,
                     "keys of YAML files, options or attributes (of ns-3 objects, with trace "
                     "sources) as JSON; man: the manual page; bash: the shell's completion")
        ->required();
    verb->footer(
        "Examples:\n"
        "  weir reference man | man -l -\n"
        "  source <(weir reference bash)\n"
        "  weir reference keys");
    return {verb, [what, &application] {
                const std::vector<std::pair<std::string, std::function<std::string()>>> printers{
                    {"keys", KeysAsJson},
                    {"options", [&application] { return OptionsAsJson(application); }},
                    {"attributes", AttributesAsJson},
                    {"man", [&application] { return ManPage(application); }},
                    {"bash", [&application] { return BashCompletion(application); }}};
                std::vector<std::string> names;
                for (const auto& [name, print] : printers)
                {
                    if (name == *what)
                    {
                        std::cout << print();
                        return ExitCode::Done;
                    }
                    names.push_back(name);
                }
                throw InputError("found '" + *what + "', expected one of: " + JoinNames(names) +
                                 DidYouMean(*what, names));
            }};
}

} // namespace weir
