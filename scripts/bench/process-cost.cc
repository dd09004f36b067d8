// SPDX-License-Identifier: GPL-2.0-only
#include "process-cost.h"

#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <sys/resource.h>

namespace weir
{

double
CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Not ru_maxrss, which a process inherits from its parent.
double
PeakBytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string key; status >> key;)
    {
        if (key == "VmHWM:")
        {
            double kib = 0;
            status >> kib;
            return kib * 1024;
        }
        status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    throw std::runtime_error("/proc/self/status has no VmHWM");
}

void
WriteFinishTimes(const std::string& file, const std::vector<double>& times)
{
    std::FILE* out = std::fopen(file.c_str(), "w");
    if (!out)
    {
        throw std::runtime_error("cannot write " + file);
    }
    for (double t : times)
    {
        std::fprintf(out, "%.17g\n", t);
    }
    if (std::fclose(out) != 0)
    {
        throw std::runtime_error("cannot write " + file);
    }
}

} // namespace weir
