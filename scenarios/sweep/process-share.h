// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_PROCESS_SHARE_H
#define WEIR_SCENARIOS_SWEEP_PROCESS_SHARE_H

#include <cstddef>
#include <functional>
#include <string>

namespace weir
{

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

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_PROCESS_SHARE_H
