// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/python-package.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace weir
{

namespace
{

struct ReportOptions
{
    std::vector<std::string> results;
    std::string output;
    std::string figure;
    std::string figures;
    std::vector<uint32_t> ranks;
    std::string window;
    std::string link;
    std::string measured;
    std::string title;
};

/** "10ms:20ms" as its two times in seconds; null when it is empty. */
nlohmann::json
ParseWindow(const std::string& text)
{
    if (text.empty())
    {
        return nullptr;
    }
    const auto colon = text.find(':');
    if (colon == std::string::npos)
    {
        throw InputError("--window: found '" + text + "', expected START:END, as 10ms:20ms");
    }
    try
    {
        const Time start = ParseTime(text.substr(0, colon));
        const Time end = ParseTime(text.substr(colon + 1));
        if (end <= start)
        {
            throw InputError("found '" + text + "', expected an end after the start");
        }
        return {start.ToSeconds(), end.ToSeconds()};
    }
    catch (const InputError& error)
    {
        throw InputError(std::string("--window: ") + error.what());
    }
}

template <typename T>
nlohmann::json
OrNull(const T& value)
{
    return value.empty() ? nlohmann::json() : nlohmann::json(value);
}

/** Hands the options on to the Python package, whose exit code is ours. */
ExitCode
WriteReport(const ReportOptions& options)
{
    if (!options.figure.empty() && !options.figures.empty())
    {
        throw InputError("--figures: found it beside --figure, expected one of them");
    }
    const nlohmann::json request{{"results", options.results},
                                 {"output", options.output},
                                 {"figure", options.figure},
                                 {"figures", options.figures},
                                 {"ranks", OrNull(options.ranks)},
                                 {"window", ParseWindow(options.window)},
                                 {"link", OrNull(options.link)},
                                 {"measured", OrNull(options.measured)},
                                 {"title", options.title}};
    // Names of files need not be UTF-8; one that is not is not found then.
    PythonPackage().Become(request.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

} // namespace

Command
AddReportCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("report", "Pictures and tables of results, as HTML");
    auto options = std::make_shared<ReportOptions>();
    verb->add_option("RESULT",
                     options->results,
                     "HDF5 of weir run, CSV of weir collective or weir flows, JSON of weir run")
        ->required();
    AddOutputOption(*verb,
                    "-o,--output",
                    options->output,
                    "The page; with --figure the picture or its data: .svg, .pdf, .png or .csv");
    verb->get_option("--output")->required();
    verb->add_option("--figure",
                     options->figure,
                     "One figure alone: sweep, comparison, breakdown, gantt, memory, topology, "
                     "link-series, congestion, queues, fct or bandwidth")
        ->type_name("NAME");
    verb->add_option("--figures",
                     options->figures,
                     "Also write every figure to this folder, as SVG, PDF, PNG and CSV")
        ->type_name("FOLDER");
    verb->add_option("--ranks",
                     options->ranks,
                     "Ranks of the Gantt chart: 0,8,16 (default: the first of each stage)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("R,R,...");
    verb->add_option("--window",
                     options->window,
                     "Part of the time axes of gantt, link-series and queues: 10ms:20ms")
        ->type_name("START:END");
    verb->add_option("--link",
                     options->link,
                     "Whose flows figure congestion follows (default: the link between nodes that "
                     "is at its full "
                     "rate for longest)")
        ->type_name("NAME");
    verb->add_option("--measured",
                     options->measured,
                     "Measured points beside bus bandwidths: a CSV with the columns size_bytes and "
                     "busbw_GBps")
        ->type_name("CSV");
    verb->add_option("--title", options->title, "Above the page or the figure");
    verb->footer(
        "Examples:\n"
        "  weir report run.h5 -o run.html\n"
        "  weir report before.h5 after.h5 -o both.html --figures pictures\n"
        "  weir report run.h5 --figure gantt --ranks 0,8 --window 10ms:40ms -o gantt.pdf\n"
        "  weir report ring.csv tree.csv --figure bandwidth -o bandwidth.svg\n"
        "A figure whose data a result lacks is left out, and the page says how to get it. Needs\n"
        "Python with h5py, matplotlib, numpy and pandas (scripts/install-packages report);\n"
        "WEIR_PYTHON names another interpreter than python3. In Python: import weir.");
    return {verb, [options] { return WriteReport(*options); }};
}

} // namespace weir
