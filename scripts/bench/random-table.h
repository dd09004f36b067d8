// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_RANDOM_TABLE_H
#define WEIR_SCRIPTS_BENCH_RANDOM_TABLE_H

#include <cmath>
#include <cstdint>

namespace weir
{

/** Random numbers by index, independent of the platform and of the order of calls. */
class RandomTable
{
  public:
    explicit RandomTable(uint64_t seed)
        : m_seed(seed)
    {
    }

    /**
     * 64 random bits: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
     * OOPSLA 2014.
     */
    uint64_t Bits(uint64_t place) const
    {
        uint64_t z = m_seed * 0xd1342543de82ef95 + (place + 1) * 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    /** Uniform in [0, 1). */
    double Part(uint64_t place) const
    {
        return static_cast<double>(Bits(place) >> 11) * 0x1p-53;
    }

    /** Uniform integer in [lo, hi). */
    double Uniform(uint64_t place, double lo, double hi) const
    {
        return std::floor(lo + (hi - lo) * Part(place));
    }

    /** Uniform integer below @p n; the bias of the remainder is below n / 2^64. */
    uint32_t Below(uint64_t place, uint32_t n) const
    {
        return static_cast<uint32_t>(Bits(place) % n);
    }

  private:
    uint64_t m_seed;
};

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_RANDOM_TABLE_H
