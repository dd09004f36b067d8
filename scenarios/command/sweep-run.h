// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_SWEEP_RUN_H
#define WEIR_SCENARIOS_COMMAND_SWEEP_RUN_H

#include "scenarios/command/commands.h"
#include "scenarios/sweep/case-processes.h"
#include "scenarios/sweep/case-store.h"
#include "scenarios/sweep/sweep.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** How cases run and what becomes of them, as the command line says it. */
struct SweepRunOptions
{
    std::string output;
    std::string csv;
    std::string results;   //!< folder of the cases' result files; empty: none
    std::string share;     //!< empty: as the process was started
    unsigned processes{0}; //!< at once; 0: as many as there are cores
    bool json{false};
    bool dryRun{false};
    bool goesOnWhereRefused{false}; //!< a case of wrong input is one that failed
};

/** Adds -o, -j, --share, --dry-run, --json and --csv. */
void AddSweepRunOptions(CLI::App& verb, SweepRunOptions& options);

/** The cases of a sweep as they run and end. */
class SweepRun
{
  public:
    /** @throws InputError where several processes share the cases of no file */
    SweepRun(Sweep sweep, const SweepRunOptions& options, CaseProcesses::Command command);

    /**
     * Runs what has not ended yet.
     * @throws InputError at a case that was refused, unless the sweep goes on there
     * @throws Interrupted at a signal
     */
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

    /** Says how many cases are kept, where not all have ended. */
    void PrintWhatIsThere() const;

    /** Says of each case that failed why it did. @return whether one has */
    bool PrintFailures() const;

    /** Says of each case that was refused why it was, where the sweep goes on there. */
    void PrintRefusals() const;

    /**
     * Ends a run whose results are printed: says of each case that failed why it did, or forgets
     * the cases that are kept. @return how the command ends, also where it @p isEmpty
     */
    ExitCode End(bool isEmpty) const;

    /** How many cases have ended well. */
    std::size_t Done() const
    {
        return static_cast<std::size_t>(
            std::count_if(m_outcomes.begin(), m_outcomes.end(), [](const auto& ended) {
                return ended.has_value() && ended->exit == 0;
            }));
    }

  private:
    void AddOutputs();
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
    std::vector<std::string> m_files;              //!< of results, by case; empty: none
    std::string m_refusal;                         //!< of the first case of wrong input
    std::vector<std::optional<EndedCase>> m_outcomes;
};

/** Prints the command of each case. */
void PrintCommands(const Sweep& sweep);

/** Prints each note of the cases once, with how many have it. */
void PrintNotesOf(const std::vector<EndedCase>& ended);

/** Writes --output and --csv, which are not the file @p input; a CSV that is standard output not.
 */
void WriteSweepOutputs(const SweepRunOptions& options,
                       const Sweep& sweep,
                       const std::vector<EndedCase>& ended);

/** @throws InputError where an output is the sweep's own file, or another output */
void CheckSweepOutputs(const SweepRunOptions& options, const std::string& input);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_SWEEP_RUN_H
