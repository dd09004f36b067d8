// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/check-memory.h"

#include "scenarios/yaml/input-error.h"

#include <string>
#include <unistd.h>

namespace weir
{

namespace
{

/** One all-reduce planned on 1024 and 4096 nodes of hgx-h100: 98 and 340 MB at most. */
constexpr double BYTES_PER_GPU = 10e3;
constexpr double GIGA = 1e9;

double
MemoryOfMachine()
{
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string
InGigabytes(double bytes)
{
    return std::to_string(static_cast<int64_t>(bytes / GIGA + 0.5)) + " GB";
}

} // namespace

void
CheckMemory(const ClusterSpec& cluster)
{
    const double needed = BYTES_PER_GPU * cluster.nodes * cluster.node.gpus;
    const double there = MemoryOfMachine();
    if (needed > there)
    {
        throw InputError("nodes: found " + std::to_string(cluster.nodes) + " of " +
                         std::to_string(cluster.node.gpus) + " GPUs, which take about " +
                         InGigabytes(needed) + " of memory, expected no more than the " +
                         InGigabytes(there) + " of this machine");
    }
}

} // namespace weir
