// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_SWEEP_RUN_H
#define WEIR_SCENARIOS_COMMAND_SWEEP_RUN_H

#include "scenarios/command/commands.h"
#include "scenarios/sweep/case-processes.h"
#include "scenarios/sweep/case-store.h"
#include "scenarios/sweep/sweep.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Options for running cases and writing their results. */
struct SweepRunOptions
{
    std::string output;
    std::string csv;
    std::string results;   //!< folder of the cases' result files; empty: none
    std::string share;     //!< empty: as the launcher's environment says
    unsigned processes{0}; //!< concurrent; 0: as many as there are cores
    bool json{false};
    bool dryRun{false};
    bool continuesAfterRefusal{false}; //!< continue after a case with wrong input
};

/** Adds -o, -j, --share, --dry-run, --json and --csv. */
void AddSweepRunOptions(CLI::App& verb, SweepRunOptions& options);

/** Runs the cases of a sweep and keeps their outcomes. */
class SweepRun
{
  public:
    /**
     * @throws InputError where several processes share the cases but there is no --output to keep
     *         them at
     */
    SweepRun(Sweep sweep, const SweepRunOptions& options, CaseProcesses::Command command);

    /**
     * Runs the cases that have not ended yet, or with --dry-run prints their commands.
     * @param finish prints the outcomes of all cases; not called while other processes still have
     *        cases to run
     * @return the exit code
     * @throws InputError at a case that was refused, unless the sweep continues after it
     * @throws Interrupted at a signal
     */
    ExitCode Run(const std::function<ExitCode(const std::vector<EndedCase>&)>& finish);

    const Sweep& GetSweep() const
    {
        return m_sweep;
    }

    /** Prints the reason of each refused case, where the sweep continues after those. */
    void PrintRefusals() const;

    /**
     * Ends a run whose results are printed: prints the reasons of failed cases, or removes the kept
     * cases when none failed. @return the exit code, a failure also if the result @p isEmpty
     */
    ExitCode End(bool isEmpty) const;

    /** The number of cases that have succeeded. */
    std::size_t Done() const
    {
        return static_cast<std::size_t>(
            std::count_if(m_outcomes.begin(), m_outcomes.end(), [](const auto& ended) {
                return ended.has_value() && ended->exit == 0;
            }));
    }

  private:
    /** The folder that keeps the cases that have ended; empty: none. */
    std::string StoreName() const
    {
        return m_options.output.empty() ? "" : m_options.output + ".cases";
    }

    /** Prints the reason of each failed case. @return whether there is one */
    bool PrintFailures() const;

    /** The outcomes of all cases; nothing while other processes still have cases to run. */
    std::optional<std::vector<EndedCase>> Outcomes();

    void AddOutputs();
    void RunCases();
    void Clear() const;
    void TakeKept();
    void Take(std::size_t number, EndedCase ended);
    std::vector<std::size_t> OpenCases();
    void ThrowIfStopped() const;
    std::string NameOf(std::size_t number) const;
    bool HasOwnFile(std::size_t number) const;

    Sweep m_sweep;
    SweepRunOptions m_options;
    ProcessShare m_share;
    CaseProcesses::Command m_command;
    std::optional<CaseStore> m_store;
    std::vector<std::vector<std::string>> m_words; //!< by case, without outputs
    std::vector<std::string> m_files;              //!< result files by case; empty: none
    bool m_hasMadeFolder{false};                   //!< whether this process made that of --results
    std::string m_refusal;                         //!< message of the first refused case
    std::vector<std::optional<EndedCase>> m_outcomes;
};

/** Prints each distinct note of the cases, with the number of cases that have it. */
void PrintNotesOf(const std::vector<EndedCase>& ended);

/** Writes --output and --csv, and prints the table that the options ask for, else @p text. */
void ShowSweep(const SweepRunOptions& options,
               const Sweep& sweep,
               const std::vector<EndedCase>& ended,
               const std::function<std::string()>& text);

/** @throws InputError where an output is the sweep's own file, or another output */
void CheckSweepOutputs(const SweepRunOptions& options, const std::string& input);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_SWEEP_RUN_H
