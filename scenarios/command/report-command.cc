// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/sweep/case-processes.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace weir
{
namespace
{

namespace fs = std::filesystem;

constexpr int CANNOT_RUN = 127; //!< exit code of shells
constexpr const char* PROGRAM = "/weir-report";

/** Runs @p program with @p argument, without a shell. */
EndedCase
Ask(const std::string& program, const std::string& argument)
{
    CaseProcesses processes(
        [&](const auto& /* words */) {
            ::execlp(program.c_str(), program.c_str(), argument.c_str(), nullptr);
            return CANNOT_RUN;
        },
        ".");
    processes.Start(0, {});
    while (true)
    {
        if (const auto ended = processes.TakeEnded(); !ended.empty())
        {
            return ended.front().second;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/** Blocks signals that end a process until the package's program is ready for them. */
void
BlockSignals()
{
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    {
        ::sigaddset(&signals, signal);
    }
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

/** Finds the folder of the package: in an installation's data, or in the source tree's scripts. */
std::string
FindFolder()
{
    std::string searched;
    for (const fs::path data : DataFolders())
    {
        for (const fs::path& folder : {data / "python", data.parent_path() / "scripts" / "python"})
        {
            std::error_code error;
            if (fs::is_regular_file(folder.string() + PROGRAM, error))
            {
                return folder.string();
            }
        }
        searched += (searched.empty() ? "'" : ", '") + data.string() + "'";
    }
    throw std::runtime_error("found no Python package of Weir, expected python/ in one of " +
                             searched);
}

/** Joins lines: "h5py, pandas". */
std::string
JoinLines(std::string text)
{
    while (!text.empty() && text.back() == '\n')
    {
        text.pop_back();
    }
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    {
        text.replace(at, 1, ", ");
    }
    return text;
}

/** Finds an interpreter that has every module of the package in @p folder. */
std::string
FindInterpreter(const std::string& folder)
{
    const char* chosen = std::getenv("WEIR_PYTHON");
    const std::vector<std::string> candidates =
        chosen != nullptr ? std::vector<std::string>{chosen}
                          : std::vector<std::string>{"python3", "/usr/bin/python3"};
    const std::string modules = folder + "/weir/requirements.py";
    std::string lacking;
    for (const auto& candidate : candidates)
    {
        const EndedCase answer = Ask(candidate, modules);
        if (answer.exit == 0 && !answer.output.empty()) // Python prints a line at least
        {
            return candidate;
        }
        if (answer.exit < CANNOT_RUN) // above: a signal has ended it
        {
            lacking = "found '" + candidate +
                      (answer.output.empty() ? "', which runs no Python program"
                                             : "' without " + JoinLines(answer.output));
        }
    }
    if (lacking.empty())
    {
        lacking = "found no working '" + candidates.front() + "'";
    }
    throw std::runtime_error(lacking +
                             ", expected what 'scripts/install-packages report' installs");
}

/**
 * Replaces this process by the program of Weir's Python package, in the source tree or installed,
 * with one argument, @p request. The interpreter is that of WEIR_PYTHON if set, else the first of
 * the path's python3 and /usr/bin/python3 that has all modules. Signals that end a process are
 * blocked until the program unblocks them.
 * @throws std::runtime_error that names what is missing, or when the interpreter cannot be started.
 */
[[noreturn]] void
BecomeReporter(const std::string& request)
{
    const std::string folder = FindFolder();
    BlockSignals();
    const std::string interpreter = FindInterpreter(folder);
    const std::string program = folder + PROGRAM;
    ::execlp(interpreter.c_str(), interpreter.c_str(), program.c_str(), request.c_str(), nullptr);
    throw std::runtime_error("cannot start '" + interpreter + "': " + std::strerror(errno));
}

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

/** Parses "10ms:20ms" to two times in seconds; null when empty. */
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
    return LocateErrors("--window", [&]() -> nlohmann::json {
        const Time start = ParseTime(text.substr(0, colon));
        const Time end = ParseTime(text.substr(colon + 1));
        if (end <= start)
        {
            throw InputError("found '" + text + "', expected an end after the start");
        }
        return {start.ToSeconds(), end.ToSeconds()};
    });
}

template <typename T>
nlohmann::json
OrNull(const T& value)
{
    return value.empty() ? nlohmann::json() : nlohmann::json(value);
}

/** Passes the options to the Python package, whose exit code becomes that of this process. */
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
    // File names need not be UTF-8; one that is not will not be found.
    BecomeReporter(request.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

} // namespace

Command
AddReportCommand(CLI::App& application)
{
    auto* verb =
        application.add_subcommand("report", "Write figures and tables of results as an HTML page");
    auto options = std::make_shared<ReportOptions>();
    verb->add_option("RESULT",
                     options->results,
                     "Result file: HDF5 of weir run, collective, flows, sweep or validate, CSV of "
                     "weir collective or flows, JSON of weir run")
        ->required();
    AddOutputOption(
        *verb,
        "-o,--output",
        options->output,
        "HTML page to write; with --figure the figure or its data: .svg, .pdf, .png or .csv");
    verb->get_option("--output")->required();
    verb->add_option("--figure",
                     options->figure,
                     "Write only one figure: sweep, comparison, breakdown, gantt, memory, "
                     "topology, link-series, congestion, queues, fct, bandwidth, parity, errors, "
                     "measured-bandwidth or bounds")
        ->type_name("NAME");
    verb->add_option("--figures",
                     options->figures,
                     "Also write every figure to this folder, as SVG, PDF, PNG and CSV")
        ->type_name("FOLDER");
    verb->add_option("--ranks",
                     options->ranks,
                     "Ranks of the Gantt chart, such as 0,8,16 (default: the first of each stage)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("R,R,...");
    verb->add_option(
            "--window",
            options->window,
            "Interval of the time axes of gantt, link-series and queues, such as 10ms:20ms")
        ->type_name("START:END");
    verb->add_option("--link",
                     options->link,
                     "Link whose flows figure congestion shows (default: the link between nodes "
                     "that is saturated for longest)")
        ->type_name("NAME");
    verb->add_option("--measured",
                     options->measured,
                     "Measured bus bandwidths to show: a CSV file with the columns size_bytes and "
                     "busbw_GBps")
        ->type_name("CSV");
    verb->add_option("--title", options->title, "Title of the page or the figure");
    verb->footer(
        "Examples:\n"
        "  weir report run.h5 -o run.html\n"
        "  weir report before.h5 after.h5 -o both.html --figures pictures\n"
        "  weir report run.h5 --figure gantt --ranks 0,8 --window 10ms:40ms -o gantt.pdf\n"
        "  weir report ring.csv tree.csv --figure bandwidth -o bandwidth.svg\n"
        "  weir report validation.h5 --figure parity -o parity.svg\n"
        "The page omits figures whose data the result lacks and says how to obtain them. Needs\n"
        "Python with h5py, matplotlib, numpy and pandas (scripts/install-packages report);\n"
        "WEIR_PYTHON selects another interpreter than python3. In Python: import weir.");
    return {verb, [options] { return WriteReport(*options); }};
}

} // namespace weir
