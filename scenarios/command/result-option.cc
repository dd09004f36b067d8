// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/result-option.h"

#include "scenarios/command/interruption.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/results/link-series.h"
#include "scenarios/results/output-file.h"
#include "scenarios/results/trace-writer.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/yaml-node.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace weir
{

void
AddResultOptions(CLI::App& verb, ResultOptions& options)
{
    AddOutputOption(verb,
                    "-o,--output",
                    options.file,
                    "Write results (flows, links, ...) to this HDF5 file, as weir run does");
    AddOutputOption(
        verb, "--timeline", options.timeline, "Write a timeline for Perfetto to this file");
    verb.add_option("--link-series",
                    options.series,
                    "Also write the traffic of each link in time bins of this width, such as 10us")
        ->type_name("TIME");
    verb.add_option("--port-series",
                    options.ports,
                    "Also write queue lengths and pause times of the busiest ports in time bins of "
                    "this width, such as 1us; in fidelity packet or hybrid")
        ->type_name("TIME");
}

void
AddCsvOption(CLI::App& verb, std::string& csv, const std::string& columns)
{
    AddOutputOption(
        verb,
        "--csv",
        csv,
        "Write " + columns +
            " to this file; - writes it to standard output instead of the normal output");
}

bool
IsStandardOutput(const std::string& csv, bool json)
{
    const bool is = csv == "-" || csv == "/dev/stdout";
    if (is && json)
    {
        throw InputError("--csv: found '" + csv +
                         "' beside --json, expected one of the two on "
                         "standard output");
    }
    return is;
}

std::unique_ptr<OutputFile>
OpenCsv(const std::string& csv,
        bool json,
        const ResultOptions& result,
        const std::vector<std::string>& inputs)
{
    if (csv.empty() || IsStandardOutput(csv, json))
    {
        return nullptr;
    }
    for (const std::string& input : inputs)
    {
        ExpectOtherFile("--csv", csv, "input", input);
    }
    auto file = OpenOutput(csv, "--csv", CSV_FORMAT);
    ExpectOtherFile("--csv", csv, "file of --output", result.file);
    return file;
}

namespace
{

/** Adds the given options of @p verb that affect the simulation, by name. */
void
AddGivenOptions(const CLI::App& verb, std::vector<std::pair<std::string, std::string>>& inputs)
{
    constexpr const char* OUTPUTS[] = {
        "output", "timeline", "csv", "json", "quiet", "explain", "keep-partial"};
    for (const CLI::Option* option : verb.get_options())
    {
        const std::string name = option->get_single_name();
        const bool isOutput =
            std::find(std::begin(OUTPUTS), std::end(OUTPUTS), name) != std::end(OUTPUTS);
        const bool isThere = std::any_of(inputs.begin(), inputs.end(), [&name](const auto& input) {
            return input.first == name;
        });
        if (option->count() > 0 && !isOutput && !isThere)
        {
            inputs.emplace_back(name, JoinNames(option->results()));
        }
    }
}

} // namespace

RecordingSpec
ReadResultOptions(const ResultOptions& options,
                  const std::string& title,
                  Fidelity fidelity,
                  const CLI::App& verb,
                  std::vector<std::pair<std::string, std::string>> inputs)
{
    AddGivenOptions(verb, inputs);
    RecordingSpec spec;
    spec.output.file = options.file;
    spec.output.fileWhere = "--output";
    spec.output.timelineWhere = "--timeline";
    spec.timelinePath = options.timeline;
    if (!options.timeline.empty())
    {
        ExpectOtherFile("--timeline", options.timeline, "file of --output", options.file);
        RemoveOutputIfInterrupted(options.timeline);
        for (const auto& [key, value] : inputs)
        {
            ExpectOtherFile("--timeline", options.timeline, "input", value);
        }
    }
    spec.title = title;
    spec.fidelity = fidelity;
    if (!options.series.empty())
    {
        const YamlNode series = YamlNode::ParseArgument(options.series, "--link-series");
        spec.output.linkSeries = ReadBinWidth(series, LinkSeries::MIN_WIDTH);
        if (options.file.empty())
        {
            series.Fail("found it without a file, expected --output beside it");
        }
    }
    if (!options.ports.empty())
    {
        const YamlNode series = YamlNode::ParseArgument(options.ports, "--port-series");
        spec.output.portSeries = ReadBinWidth(series);
        if (fidelity != Fidelity::Packet && fidelity != Fidelity::Hybrid)
        {
            series.Fail(std::string("found it in fidelity ") + ToString(fidelity) +
                        ", expected --fidelity packet or hybrid");
        }
        if (options.file.empty() && options.timeline.empty())
        {
            series.Fail("found it without a file, expected --output or --timeline beside it");
        }
    }
    spec.provenance = [inputs = std::move(inputs)] {
        std::string text;
        for (const auto& [key, value] : inputs)
        {
            // A JSON string is a YAML string.
            text += key + ": " + JsonQuoted(value) + "\n";
        }
        return text;
    };
    return spec;
}

} // namespace weir
