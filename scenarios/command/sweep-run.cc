// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/sweep-run.h"

#include "scenarios/command/interruption.h"
#include "scenarios/command/result-option.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/output-file.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/sweep/sweep-tables.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

namespace weir
{

namespace fs = std::filesystem;

namespace
{

/**
 * File names from the varied values, "2-ecmp.h5", which stay the same when a sweep gets more
 * values.
 */
std::vector<std::string>
FileNamesOf(const Sweep& sweep)
{
    constexpr std::size_t MAX_PART = 24;
    constexpr std::size_t MAX_NAME = 100;
    std::vector<std::string> names;
    std::map<std::string, std::size_t> counts;
    for (const SweepCase& swept : sweep.cases)
    {
        std::string name;
        for (std::string part : swept.values)
        {
            std::replace_if(
                part.begin(),
                part.end(),
                [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-'; },
                '_');
            name += (name.empty() ? "" : "-") + part.substr(0, MAX_PART);
        }
        name = name.substr(0, MAX_NAME);
        const std::size_t before = counts[name]++;
        names.push_back(name + (before > 0 ? "-" + std::to_string(before + 1) : "") + ".h5");
    }
    return names;
}

/** Whether a signal such as Ctrl-C ended a case. */
bool
IsInterrupted(const EndedCase& ended)
{
    const int signal = ended.exit - 128; // exit code convention of shells
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

/** Makes the folders of WEIR_DATA_PATH absolute, since cases run elsewhere. */
void
FixDataPath()
{
    const char* listed = std::getenv("WEIR_DATA_PATH");
    std::istringstream named(listed != nullptr ? listed : "");
    std::string fixed;
    for (std::string folder; std::getline(named, folder, ':');)
    {
        fixed +=
            (fixed.empty() ? "" : ":") + (folder.empty() ? folder : fs::absolute(folder).string());
    }
    if (listed != nullptr)
    {
        ::setenv("WEIR_DATA_PATH", fixed.c_str(), 1);
    }
}

} // namespace

void
AddSweepRunOptions(CLI::App& verb, SweepRunOptions& options)
{
    AddOutputOption(verb,
                    "-o,--output",
                    options.output,
                    "Write the table of cases to this HDF5 file; until all cases have finished, "
                    "FILE.cases keeps the finished ones, from which the same command resumes");
    verb.add_option("-j,--processes",
                    options.processes,
                    "Number of cases that run in parallel (default: the number of cores)")
        ->check(CLI::Range(1U, 4096U));
    verb.add_option("--share",
                    options.share,
                    "Run only this share of the cases: 2/8 is the second of eight processes with "
                    "one --output (default: as srun or mpirun sets it)");
    verb.add_flag("--dry-run", options.dryRun, "Print the commands without running them");
    verb.add_flag("--json", options.json, "Print one JSON object and nothing else");
    AddCsvOption(verb, options.csv, "a row for each result of each case");
}

SweepRun::SweepRun(Sweep sweep, const SweepRunOptions& options, CaseProcesses::Command command)
    : m_sweep(std::move(sweep)),
      m_options(options),
      m_share(options.share.empty() ? ShareFromEnvironment(std::getenv)
                                    : ParseShare(options.share)),
      m_command(std::move(command)),
      m_outcomes(m_sweep.cases.size())
{
    if (m_share.count > 1 && options.output.empty())
    {
        throw InputError("--output: found none in one of " + std::to_string(m_share.count) +
                         " processes, expected a file, which they share");
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
    const auto names = FileNamesOf(m_sweep);
    for (std::size_t i = 0; i < m_sweep.cases.size(); i++)
    {
        auto& words = m_sweep.cases[i].words;
        m_words.push_back(words);
        words.emplace_back("--json");
        if (!m_options.results.empty())
        {
            m_files.push_back((fs::absolute(m_options.results) / names[i]).string());
            words.insert(words.end(), {"-o", m_files.back()});
        }
        if (words.front() != "run")
        {
            continue;
        }
        // Without --results there is one file for all cases.
        words.insert(words.end(),
                     {"--set", m_options.results.empty() ? "output={}" : "output.timeline=false"});
        for (std::size_t at = 0; at < m_words.back().size(); at++)
        {
            const std::string key = SettingAt(m_words.back(), at);
            if (m_options.results.empty() && (key + ".").compare(0, 7, "output.") == 0)
            {
                throw InputError("--set " + key +
                                 ": found it without result files, expected --results of weir "
                                 "sweep with it");
            }
        }
    }
}

/** Whether the case's result file exists, or none is requested. */
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
        if (m_outcomes[i])
        {
            continue;
        }
        auto kept = m_store->Find(m_words[i], m_sweep.folder);
        if (kept && (kept->exit != 0 || HasOwnFile(i)))
        {
            m_outcomes[i] = std::move(kept);
        }
    }
}

void
SweepRun::Take(std::size_t number, EndedCase ended)
{
    if (ended.exit == 0 && ended.output.compare(0, 1, "{") != 0)
    {
        ended.exit = static_cast<int>(ExitCode::WrongInput);
        ended.message = "found no result, expected one";
    }
    const bool isRefused = ended.exit == static_cast<int>(ExitCode::WrongInput);
    if (isRefused && !m_options.continuesAfterRefusal)
    {
        m_refusal = m_refusal.empty() ? NameOf(number) + ": " + ended.message : m_refusal;
        return;
    }
    if (m_store && !IsInterrupted(ended))
    {
        m_store->Keep(m_words[number], m_sweep.folder, ended);
    }
    m_outcomes[number] = std::move(ended);
}

/** "case 3, weir run ...", for messages. */
std::string
SweepRun::NameOf(std::size_t number) const
{
    return "case " + std::to_string(number) + ", weir " + ShellLine(m_sweep.cases[number].words);
}

/** The cases of this process to run, including those that failed before. */
std::vector<std::size_t>
SweepRun::OpenCases()
{
    TakeKept();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < m_outcomes.size(); i++)
    {
        if (m_share.Has(i) && (!m_outcomes[i] || m_outcomes[i]->exit != 0))
        {
            m_outcomes[i].reset();
            if (m_store)
            {
                m_store->Remove(m_words[i], m_sweep.folder);
            }
            open.push_back(i);
        }
    }
    return open;
}

void
SweepRun::ThrowIfStopped() const
{
    if (m_refusal.empty() && PendingSignal() == 0)
    {
        return;
    }
    if (m_hasMadeFolder && m_share.count == 1) // else others may write to it
    {
        std::error_code isNotEmpty;
        fs::remove(m_options.results, isNotEmpty);
    }
    if (!m_refusal.empty())
    {
        throw InputError(m_refusal);
    }
    const auto ended = static_cast<std::size_t>(std::count_if(
        m_outcomes.begin(), m_outcomes.end(), [](const auto& one) { return one.has_value(); }));
    const std::size_t failed = ended - Done();
    const std::string count =
        "kept " + std::to_string(ended) + " of " + std::to_string(m_outcomes.size()) + " cases" +
        (failed > 0 ? " (" + std::to_string(failed) + " refused or failed, to be tried again)"
                    : "");
    std::string kept;
    if (m_store && ended > 0)
    {
        kept = count + " in " + StoreName() + ", from which the same command resumes";
    }
    else if (!m_files.empty() && Done() > 0)
    {
        kept = "kept the result files of the finished cases";
    }
    throw Interrupted{PendingSignal(), kept};
}

void
SweepRun::RunCases()
{
    if (!m_options.results.empty())
    {
        std::error_code error;
        m_hasMadeFolder = fs::create_directories(m_options.results, error);
        if (error)
        {
            throw InputError("--results: found '" + m_options.results + "' (" + error.message() +
                             "), expected a folder");
        }
    }
    if (m_store)
    {
        m_store->Claim(m_share);
    }
    FixDataPath();
    const auto open = OpenCases();
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t max = m_options.processes > 0 ? m_options.processes : cores;
    KeepWhenInterrupted(m_store           ? "finished cases are kept in " + StoreName()
                        : m_files.empty() ? ""
                                          : "the result files of finished cases are kept");
    ProgressLine line = TerminalProgress(m_sweep.title);
    CaseProcesses processes(m_command, m_sweep.folder);
    for (auto next = open.begin(); next != open.end() || processes.Running() > 0;)
    {
        ThrowIfStopped();
        while (next != open.end() && processes.Running() < max)
        {
            processes.Start(*next, m_sweep.cases[*next].words);
            ++next;
        }
        auto ended = processes.TakeEnded();
        for (auto& [number, outcome] : ended)
        {
            Take(number, std::move(outcome));
        }
        line.Update(open.size() - static_cast<std::size_t>(open.end() - next) - processes.Running(),
                    open.size(),
                    Time());
        if (ended.empty())
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    ThrowIfStopped();
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
    for (std::size_t i = 0; m_store && i < m_words.size(); i++)
    {
        m_store->Remove(m_words[i], m_sweep.folder);
    }
}

ExitCode
SweepRun::Run(const std::function<ExitCode(const std::vector<EndedCase>&)>& finish)
{
    if (m_options.dryRun)
    {
        for (const SweepCase& swept : m_sweep.cases)
        {
            std::cout << "weir " << ShellLine(swept.words) << "\n";
        }
        return ExitCode::Done;
    }
    RunCases();
    if (const auto ended = Outcomes())
    {
        return finish(*ended);
    }
    std::cout << Done() << " of " << m_sweep.cases.size() << " cases are in " << StoreName()
              << "; the process that finishes the last case writes " << m_options.output << "\n";
    return PrintFailures() ? ExitCode::CheckFailed : ExitCode::Done;
}

ExitCode
SweepRun::End(bool isEmpty) const
{
    if (PrintFailures())
    {
        return ExitCode::CheckFailed;
    }
    Clear();
    return isEmpty ? ExitCode::CheckFailed : ExitCode::Done;
}

bool
SweepRun::PrintFailures() const
{
    bool hasFailed = false;
    for (std::size_t i = 0; i < m_outcomes.size(); i++)
    {
        const int exit = m_outcomes[i] ? m_outcomes[i]->exit : 0;
        if (exit == 0 ||
            (m_options.continuesAfterRefusal && exit == static_cast<int>(ExitCode::WrongInput)))
        {
            continue;
        }
        hasFailed = true;
        std::cerr << "weir: " << NameOf(i) << ": " << m_outcomes[i]->message << "\n";
    }
    return hasFailed;
}

void
SweepRun::PrintRefusals() const
{
    for (std::size_t i = 0; i < m_outcomes.size(); i++)
    {
        if (m_outcomes[i] && m_outcomes[i]->exit == static_cast<int>(ExitCode::WrongInput))
        {
            std::cerr << "weir: note: " << NameOf(i) << " was refused: " << m_outcomes[i]->message
                      << "\n";
        }
    }
}

void
PrintNotesOf(const std::vector<EndedCase>& ended)
{
    std::vector<std::pair<std::string, std::size_t>> counts; // in order of appearance
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
CheckSweepOutputs(const SweepRunOptions& options, const std::string& input)
{
    const std::string csv = IsStandardOutput(options.csv, options.json) ? "" : options.csv;
    ExpectOtherFile("--output", options.output, "input", input);
    ExpectOtherFile("--csv", csv, "input", input);
    ExpectOtherFile("--csv", csv, "file of --output", options.output);
    // Check that they can be written before hours of runs.
    if (!options.output.empty())
    {
        const OutputFile output(options.output, "--output", HDF5_FORMAT);
    }
    if (!csv.empty())
    {
        const OutputFile table(csv, "--csv", CSV_FORMAT);
    }
}

void
ShowSweep(const SweepRunOptions& options,
          const Sweep& sweep,
          const std::vector<EndedCase>& ended,
          const std::function<std::string()>& text)
{
    if (!options.output.empty())
    {
        WriteSweepFile(options.output, "--output", sweep, ended);
    }
    const bool isCsvPrinted = IsStandardOutput(options.csv, options.json);
    if (!options.csv.empty() && !isCsvPrinted)
    {
        OutputFile(options.csv, "--csv", CSV_FORMAT).Save(ToCsv(sweep, ended));
    }
    std::cout << (isCsvPrinted   ? ToCsv(sweep, ended)
                  : options.json ? ToJson(sweep, ended) + "\n"
                                 : text());
    if (!isCsvPrinted && !options.json && !options.output.empty())
    {
        std::cout << "  results in " << options.output << "\n";
    }
    std::cout.flush();
}

} // namespace weir
