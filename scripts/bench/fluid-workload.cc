// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-workload.h"

#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <sys/resource.h>
#include <utility>

namespace weir
{

namespace
{

constexpr double LINK_RATE = 50e9;      // 400 Gb/s
constexpr double HOST_LATENCY = 500e-9; // of a rank's links; see MakeWorkload
constexpr double MIB = 1048576;

/** Uniform in [lo, hi), whole bytes, the same on every platform. */
class Sizes
{
  public:
    explicit Sizes(uint64_t seed)
        : m_bits(seed)
    {
    }

    double Uniform(double lo, double hi)
    {
        return std::floor(lo + (hi - lo) * static_cast<double>(m_bits() >> 11) * 0x1p-53);
    }

    uint64_t Below(uint64_t n)
    {
        return m_bits() % n;
    }

  private:
    std::mt19937_64 m_bits;
};

void
AddRing(Workload& w)
{
    const uint32_t steps = 2 * (w.ranks - 1);
    const double chunk = std::ceil(1024 * MIB / w.ranks);
    for (uint32_t step = 0; step < steps; step++)
    {
        for (uint32_t rank = 0; rank < w.ranks; rank++)
        {
            const uint32_t to = (rank + 1) % w.ranks;
            const uint32_t next = step + 1 < steps ? (step + 1) * w.ranks + to : WorkloadFlow::NONE;
            w.flows.push_back({rank, to, chunk, next, step == 0});
        }
    }
}

void
AddAllToAll(Workload& w, double lo, double hi, uint64_t seed)
{
    Sizes sizes(seed);
    for (uint32_t shift = 1; shift < w.ranks; shift++)
    {
        for (uint32_t rank = 0; rank < w.ranks; rank++)
        {
            w.flows.push_back({rank, (rank + shift) % w.ranks, sizes.Uniform(lo, hi)});
        }
    }
}

void
AddPermutation(Workload& w, uint64_t seed)
{
    Sizes random(seed);
    std::vector<uint32_t> order(w.ranks);
    std::iota(order.begin(), order.end(), 0);
    for (uint32_t i = w.ranks - 1; i > 0; i--)
    {
        std::swap(order[i], order[random.Below(i + 1)]);
    }
    for (uint32_t i = 0; i < w.ranks; i++)
    {
        w.flows.push_back({order[i], order[(i + 1) % w.ranks], 64 * MIB});
    }
}

void
AddIncast(Workload& w, uint64_t seed)
{
    Sizes sizes(seed);
    for (uint32_t rank = 1; rank < w.ranks; rank++)
    {
        w.flows.push_back({rank, 0, sizes.Uniform(0.5 * MIB, 1.5 * MIB)});
    }
}

} // namespace

std::vector<uint32_t>
Workload::Route(uint32_t source, uint32_t destination) const
{
    const uint32_t up = 2 * source;
    const uint32_t down = 2 * destination + 1;
    if (ranksPerLeaf == 0 || source / ranksPerLeaf == destination / ranksPerLeaf)
    {
        return {up, down};
    }
    const uint32_t spine = destination % spines;
    const uint32_t base = 2 * ranks;
    return {up,
            base + 2 * (source / ranksPerLeaf * spines + spine),
            base + 2 * (destination / ranksPerLeaf * spines + spine) + 1,
            down};
}

Workload
MakeWorkload(const std::string& fabric, const std::string& pattern, uint32_t ranks, uint64_t seed)
{
    Workload w{ranks, {}, {}, 0, 0};
    if (fabric == "clos" || fabric == "fat-tree")
    {
        w.ranksPerLeaf = 16;
        w.spines = fabric == "clos" ? 16 : 8;
    }
    else if (fabric != "switch")
    {
        throw std::invalid_argument("no fabric " + fabric + ": switch, clos or fat-tree");
    }
    const uint32_t leaves = w.spines > 0 ? (ranks + w.ranksPerLeaf - 1) / w.ranksPerLeaf : 0;
    w.links.assign(2 * ranks, {LINK_RATE, HOST_LATENCY});
    w.links.resize(2 * (ranks + leaves * w.spines), {LINK_RATE, 0});
    if (pattern == "ring")
    {
        AddRing(w);
    }
    else if (pattern == "all-to-all")
    {
        AddAllToAll(w, MIB, MIB, seed);
    }
    else if (pattern == "all-to-all-random")
    {
        AddAllToAll(w, 0.5 * MIB, 1.5 * MIB, seed);
    }
    else if (pattern == "permutation")
    {
        AddPermutation(w, seed);
    }
    else if (pattern == "incast")
    {
        AddIncast(w, seed);
    }
    else
    {
        throw std::invalid_argument("no pattern " + pattern +
                                    ": ring, all-to-all, all-to-all-random, permutation or incast");
    }
    return w;
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
    std::fclose(out);
}

double
CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double
PeakBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024.0;
}

} // namespace weir
