// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/result-option.h"

#include "scenarios/command/interruption.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/link-series.h"
#include "scenarios/results/output-file.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/yaml-node.h"

#include <nlohmann/json.hpp>
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
                    "Also write what links carried in bins of this width, such as 10us")
        ->type_name("TIME");
    verb.add_option("--port-series",
                    options.ports,
                    "Also write queue lengths and pauses of the busiest ports in bins of this "
                    "width, such as 1us; in fidelity packet")
        ->type_name("TIME");
}

namespace
{

/** The width of a series' bins. */
Time
ReadWidth(const YamlNode& series, const std::string& text)
{
    const Time width = series.AsTime();
    if (width == Time())
    {
        series.Fail("found '" + text + "', expected a time above zero");
    }
    return width;
}

} // namespace

RecordingSpec
ReadResultOptions(const ResultOptions& options,
                  const std::string& title,
                  Fidelity fidelity,
                  std::vector<std::pair<std::string, std::string>> inputs)
{
    RecordingSpec spec;
    spec.output.file = options.file;
    spec.fileOption = "--output";
    spec.timelinePath = options.timeline;
    if (!options.timeline.empty())
    {
        ExpectOtherFile("--timeline", options.timeline, "file of --output", options.file);
        RemoveIfInterrupted(OutputFile::TemporaryName(options.timeline));
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
        spec.output.linkSeries = ReadWidth(series, options.series);
        if (*spec.output.linkSeries < LinkSeries::MIN_WIDTH)
        {
            series.Fail("found '" + options.series + "', expected at least " +
                        FormatTime(LinkSeries::MIN_WIDTH));
        }
        if (options.file.empty())
        {
            series.Fail("found it without a file, expected --output beside it");
        }
    }
    if (!options.ports.empty())
    {
        const YamlNode series = YamlNode::ParseArgument(options.ports, "--port-series");
        spec.output.portSeries = ReadWidth(series, options.ports);
        if (fidelity != Fidelity::Packet)
        {
            series.Fail(std::string("found it in fidelity ") + ToString(fidelity) +
                        ", expected --fidelity packet");
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
            text += key + ": " +
                    nlohmann::json(value).dump(
                        -1, ' ', false, nlohmann::json::error_handler_t::replace) +
                    "\n";
        }
        return text;
    };
    return spec;
}

} // namespace weir
