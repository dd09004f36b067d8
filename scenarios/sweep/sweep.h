// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_SWEEP_H
#define WEIR_SCENARIOS_SWEEP_SWEEP_H

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weir
{

/** One of a sweep's cases. */
struct SweepCase
{
    std::vector<std::string> values; //!< by column of the sweep, as in tables
    std::vector<std::string> words;  //!< the command line after "weir"
};

/** One command with every combination of some values. */
struct Sweep
{
    std::string path; //!< the file it was read from
    std::string title;
    std::string folder;               //!< where its commands run: the file's folder
    std::vector<std::string> keys;    //!< varied keys: of values that --set replaces, or options
    std::vector<std::string> columns; //!< their names in tables
    std::vector<SweepCase> cases;     //!< the values of the last key change fastest
};

/**
 * Reads a sweep file (its keys: `weir reference keys`, map "sweep").
 * @param settings `--set` of the command for all cases; must not set a varied key
 * @throws InputError also where there are more than 100 000 cases, where the command or a setting
 *         fixes a varied key, a varied key replaces an earlier one, values repeat, or the command
 *         has output options.
 */
Sweep LoadSweep(const std::string& path, const std::vector<std::string>& settings = {});

/** The cases of a sweep that this process runs: every `count`-th, from `index` on. */
struct ProcessShare
{
    std::size_t index{0};
    std::size_t count{1};

    bool Has(std::size_t number) const
    {
        return number % count == index;
    }
};

/**
 * The share of this process by the environment of its launcher: srun (not sbatch, which runs one
 * script), Open MPI's mpirun, or one with PMI, such as MPICH's and Intel's. All cases where there
 * is none.
 * @param variable returns the text of an environment variable, null where there is none
 * @throws InputError where a launcher's rank is none of its size
 */
ProcessShare ShareFromEnvironment(const std::function<const char*(const char*)>& variable);

/** Parses "2/8", the second of eight. @throws InputError */
ProcessShare ParseShare(const std::string& text);

/**
 * The key that `--set`, or the option that the command line @p words sets at position @p at: "seed"
 * for `--set seed=3` and for `--set=seed=3`, "--nodes" for `--nodes`; empty: a value or a verb.
 */
std::string SettingAt(const std::vector<std::string>& words, std::size_t at);

/** A command line quoted for a shell: words with other than plain characters are in quotes. */
std::string ShellLine(const std::vector<std::string>& words);

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_SWEEP_H
