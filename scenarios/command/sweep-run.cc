// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/sweep-run.h"

#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/result-option.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/output-file.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/sweep/sweep-tables.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace weir
{

namespace fs = std::filesystem;

namespace
{

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

} // namespace

void
AddSweepRunOptions(CLI::App& verb, SweepRunOptions& options)
{
    AddOutputOption(verb,
                    "-o,--output",
                    options.output,
                    "Write the table of cases to this HDF5 file; until all have ended, those that "
                    "have wait in FILE.cases, from where the same command goes on");
    verb.add_option("-j,--processes",
                    options.processes,
                    "Cases that run at once (default: as many as there are cores)")
        ->check(CLI::Range(1U, 4096U));
    verb.add_option("--share",
                    options.share,
                    "Run these cases only, such as 2/8, the second of eight processes with one "
                    "--output (default: what srun or mpirun says)");
    verb.add_flag("--dry-run", options.dryRun, "Print the commands, run none");
    verb.add_flag("--json", options.json, "Print one JSON object and nothing else");
    AddCsvOption(verb, options.csv, "a row for each result of each case");
}

SweepRun::SweepRun(Sweep sweep, const SweepRunOptions& options, CaseProcesses::Command command)
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
    if (outcome.exit == static_cast<int>(ExitCode::WrongInput) && !m_options.goesOnWhereRefused)
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
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t most = m_options.processes > 0 ? m_options.processes : cores;
    KeepWhenInterrupted();
    ProgressLine line(std::cerr, isatty(STDERR_FILENO) == 1, m_sweep.title);
    CaseProcesses processes(m_command, m_sweep.folder);
    for (auto next = open.begin(); next != open.end() || processes.Running() > 0;)
    {
        while (next != open.end() && processes.Running() < most)
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
        const int exit = m_outcomes[i] ? m_outcomes[i]->exit : -1;
        const bool isRefused = exit == static_cast<int>(ExitCode::WrongInput);
        if (exit == 0 || (isRefused && m_options.goesOnWhereRefused))
        {
            m_store->Remove(m_sweep.cases[i].words, m_sweep.folder);
        }
    }
    if (m_store)
    {
        m_store->RemoveFolder();
    }
}

void
PrintNotesOf(const std::vector<EndedCase>& ended)
{
    std::vector<std::pair<std::string, std::size_t>> counts; // as they came
    for (const EndedCase& one : ended)
    {
        for (const std::string& note : one.notes)
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
        std::cerr << "weir: note: in " << count << " of " << ended.size() << " cases: " << note
                  << "\n";
    }
}

void
SweepRun::PrintWhatIsThere() const
{
    std::cout << Ended() << " of " << m_sweep.cases.size() << " cases are in " << StoreName()
              << "; the process that ends the last one writes " << m_options.output << "\n";
}

void
PrintCommands(const Sweep& sweep)
{
    for (const SweepCase& swept : sweep.cases)
    {
        std::cout << "weir " << ShellLine(swept.words) << "\n";
    }
}

void
CheckSweepOutputs(const SweepRunOptions& options, const std::string& input)
{
    const std::string csv = IsStandardOutput(options.csv, options.json) ? "" : options.csv;
    ExpectOtherFile("--output", options.output, "input", input);
    ExpectOtherFile("--csv", csv, "input", input);
    ExpectOtherFile("--csv", csv, "file of --output", options.output);
}

void
WriteSweepOutputs(const SweepRunOptions& options,
                  const Sweep& sweep,
                  const std::vector<EndedCase>& ended)
{
    if (!options.output.empty())
    {
        WriteSweepFile(options.output, "--output", sweep, ended);
    }
    if (!options.csv.empty() && !IsStandardOutput(options.csv, options.json))
    {
        OutputFile(options.csv, "--csv", CsvFormat()).Save(ToCsv(sweep, ended));
    }
}

} // namespace weir
