// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/result-option.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/output-file.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/sweep/case-processes.h"
#include "scenarios/sweep/case-store.h"
#include "scenarios/sweep/process-share.h"
#include "scenarios/sweep/sweep-tables.h"
#include "scenarios/sweep/sweep.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

namespace weir
{
namespace
{

namespace fs = std::filesystem;

struct SweepOptions
{
    std::string file;
    std::vector<std::string> settings;
    std::string output;
    std::string csv;
    std::string results; //!< folder; empty: none
    std::string share;   //!< empty: as the process was started
    unsigned processes{std::max(1U, std::thread::hardware_concurrency())};
    bool json{false};
    bool dryRun{false};
};

/** The sweep's cases as they run and end. */
class SweepRun
{
  public:
    SweepRun(Sweep sweep, const SweepOptions& options, CaseProcesses::Command command)
        : m_sweep(std::move(sweep)),
          m_options(options),
          m_share(options.share.empty() ? ShareOfProcess(std::getenv) : ParseShare(options.share)),
          m_command(std::move(command)),
          m_outcomes(m_sweep.cases.size())
    {
        if (m_share.count > 1 && options.output.empty())
        {
            throw InputError("--output: found none in one of " + std::to_string(m_share.count) +
                             " processes, expected a file, beside which they keep their cases");
        }
        if (!options.output.empty())
        {
            m_store.emplace(fs::absolute(options.output).string() + ".cases");
        }
        AddOutputs();
    }

    /** Runs what has not ended yet. */
    void Run();

    /** How all cases ended; nothing where other processes have some to run. */
    std::optional<std::vector<EndedCase>> Outcomes();

    const Sweep& GetSweep() const
    {
        return m_sweep;
    }

    /** Where cases that have ended are kept; empty: nowhere. */
    std::string StoreName() const
    {
        return m_options.output.empty() ? "" : m_options.output + ".cases";
    }

    /** Forgets what is kept of those that are done. */
    void Clear() const;

    std::size_t Ended() const
    {
        return static_cast<std::size_t>(
            std::count_if(m_outcomes.begin(), m_outcomes.end(), [](const auto& outcome) {
                return outcome.has_value();
            }));
    }

  private:
    void AddOutputs();
    void TakeKept();
    void Take(std::size_t number, EndedCase outcome);
    bool HasOwnFile(std::size_t number) const;

    Sweep m_sweep;
    const SweepOptions& m_options;
    ProcessShare m_share;
    CaseProcesses::Command m_command;
    std::optional<CaseStore> m_store;
    std::vector<std::string> m_files; //!< of results, by case; empty: none
    std::vector<std::optional<EndedCase>> m_outcomes;
};

/** A file name that says what varies: "07-2-ecmp". */
std::string
FileNameOf(const Sweep& sweep, std::size_t number)
{
    constexpr std::size_t MAX_PART = 24;
    const std::string digits = std::to_string(number);
    std::string name(std::to_string(sweep.cases.size() - 1).size() - digits.size(), '0');
    name += digits;
    for (std::string part : sweep.cases[number].values)
    {
        std::replace_if(
            part.begin(),
            part.end(),
            [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-'; },
            '_');
        name += "-" + part.substr(0, MAX_PART);
    }
    return name + ".h5";
}

void
SweepRun::AddOutputs()
{
    for (std::size_t i = 0; i < m_sweep.cases.size(); i++)
    {
        auto& words = m_sweep.cases[i].words;
        words.emplace_back("--json");
        if (!m_options.results.empty())
        {
            m_files.push_back((fs::absolute(m_options.results) / FileNameOf(m_sweep, i)).string());
            words.insert(words.end(), {"-o", m_files.back()});
        }
        else if (words.front() == "run")
        {
            words.insert(words.end(), {"--set", "output={}"}); // one file of all cases otherwise
        }
    }
}

/** Whether the case's result file is there, where one is asked for. */
bool
SweepRun::HasOwnFile(std::size_t number) const
{
    return m_files.empty() || fs::exists(m_files[number]);
}

void
SweepRun::TakeKept()
{
    for (std::size_t i = 0; m_store && i < m_outcomes.size(); i++)
    {
        auto kept = m_store->Find(m_sweep.cases[i].words, m_sweep.folder);
        if (kept && HasOwnFile(i))
        {
            m_outcomes[i] = std::move(kept);
        }
    }
}

void
SweepRun::Take(std::size_t number, EndedCase outcome)
{
    const SweepCase& swept = m_sweep.cases[number];
    if (outcome.exit == static_cast<int>(ExitCode::WrongInput))
    {
        throw InputError("case " + std::to_string(number) + ", weir " + ShellLine(swept.words) +
                         ": " + outcome.message);
    }
    if (m_store)
    {
        m_store->Keep(swept.words, m_sweep.folder, outcome);
    }
    m_outcomes[number] = std::move(outcome);
}

void
SweepRun::Run()
{
    if (!m_options.results.empty())
    {
        std::error_code error;
        fs::create_directories(m_options.results, error);
        if (error)
        {
            throw InputError("--results: found '" + m_options.results + "' (" + error.message() +
                             "), expected a folder");
        }
    }
    TakeKept();
    std::vector<std::size_t> open; // own cases, also those that failed before
    for (std::size_t i = 0; i < m_outcomes.size(); i++)
    {
        if (m_share.Has(i) && (!m_outcomes[i] || m_outcomes[i]->exit != 0))
        {
            m_outcomes[i].reset();
            if (m_store)
            {
                m_store->Remove(m_sweep.cases[i].words, m_sweep.folder);
            }
            open.push_back(i);
        }
    }
    KeepWhenInterrupted();
    ProgressLine line(std::cerr, isatty(STDERR_FILENO) == 1, m_sweep.title);
    CaseProcesses processes(m_command, m_sweep.folder);
    for (auto next = open.begin(); next != open.end() || processes.Running() > 0;)
    {
        while (next != open.end() && processes.Running() < m_options.processes)
        {
            processes.Start(*next, m_sweep.cases[*next].words);
            ++next;
        }
        auto ended = processes.TakeEnded();
        for (auto& [number, outcome] : ended)
        {
            Take(number, std::move(outcome));
        }
        if (NotedSignal() != 0)
        {
            throw Interrupted{NotedSignal(),
                              StoreName().empty() || Ended() == 0
                                  ? ""
                                  : "kept " + std::to_string(Ended()) + " of " +
                                        std::to_string(m_outcomes.size()) + " cases in " +
                                        StoreName() + ", from where the same command goes on"};
        }
        line.Update(open.size() - static_cast<std::size_t>(open.end() - next) - processes.Running(),
                    open.size(),
                    Time());
        if (ended.empty())
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
}

std::optional<std::vector<EndedCase>>
SweepRun::Outcomes()
{
    TakeKept();
    std::vector<EndedCase> outcomes;
    for (const auto& outcome : m_outcomes)
    {
        if (!outcome)
        {
            return std::nullopt;
        }
        outcomes.push_back(*outcome);
    }
    return outcomes;
}

void
SweepRun::Clear() const
{
    for (std::size_t i = 0; m_store && i < m_outcomes.size(); i++)
    {
        if (m_outcomes[i] && m_outcomes[i]->exit == 0)
        {
            m_store->Remove(m_sweep.cases[i].words, m_sweep.folder);
        }
    }
    if (m_store)
    {
        m_store->RemoveFolder();
    }
}

/** Prints each note of the cases once, with how many have it. */
void
PrintNotesOfAll(const std::vector<EndedCase>& outcomes)
{
    std::vector<std::pair<std::string, std::size_t>> counts; // as they came
    for (const EndedCase& outcome : outcomes)
    {
        for (const std::string& note : outcome.notes)
        {
            const auto known = std::find_if(
                counts.begin(), counts.end(), [&note](const auto& c) { return c.first == note; });
            if (known == counts.end())
            {
                counts.emplace_back(note, 1);
            }
            else
            {
                known->second++;
            }
        }
    }
    for (const auto& [note, count] : counts)
    {
        std::cerr << "weir: note: in " << count << " of " << outcomes.size() << " cases: " << note
                  << "\n";
    }
}

/** Says of each failed case why it failed. @return whether there are any */
bool
PrintFailures(const Sweep& sweep, const std::vector<EndedCase>& outcomes)
{
    bool hasFailed = false;
    for (std::size_t i = 0; i < outcomes.size(); i++)
    {
        if (outcomes[i].exit != 0)
        {
            hasFailed = true;
            std::cerr << "weir: case " << i << ", weir " << ShellLine(sweep.cases[i].words) << ": "
                      << outcomes[i].message << "\n";
        }
    }
    return hasFailed;
}

ExitCode
RunSweep(const SweepOptions& options, const CaseProcesses::Command& command)
{
    const bool isCsvPrinted = IsStandardOutput(options.csv, options.json);
    SweepRun run(LoadSweep(Catalog().Find(CatalogKind::Sweeps, options.file), options.settings),
                 options,
                 command);
    ExpectOtherFile("--output", options.output, "sweep", run.GetSweep().path);
    ExpectOtherFile("--csv", isCsvPrinted ? "" : options.csv, "sweep", run.GetSweep().path);
    ExpectOtherFile("--csv", isCsvPrinted ? "" : options.csv, "file of --output", options.output);
    if (options.dryRun)
    {
        for (const SweepCase& swept : run.GetSweep().cases)
        {
            std::cout << "weir " << ShellLine(swept.words) << "\n";
        }
        return ExitCode::Done;
    }
    run.Run();
    const auto outcomes = run.Outcomes();
    if (!outcomes)
    {
        std::cout << run.Ended() << " of " << run.GetSweep().cases.size() << " cases are in "
                  << run.StoreName() << "; the process that ends the last one writes "
                  << options.output << "\n";
        return ExitCode::Done;
    }
    if (!options.output.empty())
    {
        WriteSweepFile(options.output, "--output", run.GetSweep(), *outcomes);
    }
    if (!options.csv.empty() && !isCsvPrinted)
    {
        OutputFile(options.csv, "--csv", CsvFormat()).Save(ToCsv(run.GetSweep(), *outcomes));
    }
    std::cout << (isCsvPrinted   ? ToCsv(run.GetSweep(), *outcomes)
                  : options.json ? ToJson(run.GetSweep(), *outcomes) + "\n"
                                 : ToText(run.GetSweep(), *outcomes));
    std::cout.flush();
    PrintNotesOfAll(*outcomes);
    const bool hasFailed = PrintFailures(run.GetSweep(), *outcomes);
    run.Clear();
    if (!isCsvPrinted && !options.json && !options.output.empty())
    {
        std::cout << "  results in " << options.output << "\n";
    }
    return hasFailed ? ExitCode::CheckFailed : ExitCode::Done;
}

} // namespace

Command
AddSweepCommand(CLI::App& application, CaseProcesses::Command command)
{
    auto* verb = application.add_subcommand(
        "sweep", "Run a command for every combination of some values, in parallel");
    auto options = std::make_shared<SweepOptions>();
    verb->add_option("FILE", options->file, "Sweep file, or the name of a sweep of the catalogue")
        ->required();
    AddSettingsOption(*verb, options->settings, "every case, such as output.linkSeries=1ms");
    AddOutputOption(*verb,
                    "-o,--output",
                    options->output,
                    "Write the table of cases to this HDF5 file; until all have ended, those that "
                    "have wait in FILE.cases, from where the same command goes on");
    verb->add_option("-j,--processes",
                     options->processes,
                     "Cases that run at once (default: as many as there are cores)")
        ->check(CLI::Range(1U, 4096U));
    verb->add_option(
            "--results", options->results, "Also write the result file of each case to this folder")
        ->type_name("FOLDER");
    verb->add_option("--share",
                     options->share,
                     "Run these cases only, such as 2/8, the second of eight processes with one "
                     "--output (default: what srun or mpirun says)");
    verb->add_flag("--dry-run", options->dryRun, "Print the commands, run none");
    verb->add_flag("--json", options->json, "Print one JSON object and nothing else");
    AddCsvOption(*verb, options->csv, "a row for each result of each case");
    verb->footer(
        "A sweep is {command: run congestion-512-h100, vary: {system.fabric.routing: [ecmp, "
        "spray],\n"
        "system.fabric.oversubscription: [1, 2, 4]}}: the command of a run, a collective or "
        "flows,\n"
        "and keys as --set has them, or options such as --nodes. A list has values, a map values "
        "by\n"
        "name; \"system.nodes, jobs.0.gpus\": [[16, 64], [32, 128]] are keys that change "
        "together.\n"
        "Cases are run in processes of their own: one that fails leaves the others alone.\n"
        "Examples:\n"
        "  weir sweep congestion-512-h100 -o congestion.h5\n"
        "  weir sweep my-sweep.yaml -j 8 --csv sweep.csv --results cases\n"
        "  srun -n 64 weir sweep my-sweep.yaml -j 1 -o sweep.h5");
    return {verb, [options, command] { return RunSweep(*options, command); }};
}

} // namespace weir
