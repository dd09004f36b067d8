// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_RANDOM_STREAM_H
#define WEIR_TESTS_FABRIC_RANDOM_STREAM_H

#include <cmath>
#include <cstdint>
#include <random>

namespace weir
{

/** Seeded random draws that are identical on every platform (std:: distributions are not). */
class RandomStream
{
  public:
    explicit RandomStream(uint64_t seed)
        : m_bits(seed)
    {
    }

    /** Uniform integer in [0, n). */
    uint64_t Below(uint64_t n)
    {
        return m_bits() % n;
    }

    /** Uniform integer in [@p from, @p to]. */
    int64_t Between(int64_t from, int64_t to)
    {
        return from + static_cast<int64_t>(Below(static_cast<uint64_t>(to - from + 1)));
    }

    /** Uniform in [0, 1). */
    double Unit()
    {
        return static_cast<double>(m_bits() >> 11) * 0x1p-53;
    }

    /** Log-uniform between 10^lo and 10^hi. */
    double PowerOfTen(double lo, double hi)
    {
        return std::pow(10, lo + (hi - lo) * Unit());
    }

    /** True with probability 1 / @p n. */
    bool OneIn(uint64_t n)
    {
        return Below(n) == 0;
    }

  private:
    std::mt19937_64 m_bits;
};

} // namespace weir

#endif // WEIR_TESTS_FABRIC_RANDOM_STREAM_H
