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
    std::vector<std::string> values; //!< by column of the sweep, as tables say them
    std::vector<std::string> words;  //!< the command line behind "weir"
};

/** One command with every combination of some values. */
struct Sweep
{
    std::string path; //!< of the file it was read from
    std::string title;
    std::string folder;               //!< in which its commands run: the file's
    std::vector<std::string> keys;    //!< that vary: of values that --set replaces, or options
    std::vector<std::string> columns; //!< what tables call these
    std::vector<SweepCase> cases;     //!< the values of the last key change fastest
};

/**
 * Reads a sweep file (its keys: `weir reference keys`, map "sweep").
 * @param settings that all cases have, as `--set` of their command; none of what varies
 * @throws InputError also where there are more than 100 000 cases, where the command or a setting
 *         fixes what varies, or the command says itself what is printed or written.
 */
Sweep LoadSweep(const std::string& path, const std::vector<std::string>& settings = {});

/** Which cases of a sweep are this process's: each `count`-th from the `index`-th on. */
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
 * What the starter of this process says of it: srun (not sbatch, of whose script there is one),
 * Open MPI's mpirun, or one that speaks PMI, as MPICH's and Intel's. All of it where there is none.
 * @param variable the text of an environment variable, null where there is none
 */
ProcessShare ShareOfProcess(const std::function<const char*(const char*)>& variable);

/** "2/8", the second of eight. @throws InputError */
ProcessShare ParseShare(const std::string& text);

/** A command line as a shell takes it: words of more than plain characters in quotes. */
std::string ShellLine(const std::vector<std::string>& words);

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_SWEEP_H
