// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/rank-jitter.h"

#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr double TWO_PI = 6.283185307179586;

/** The next word of the generator whose state is @p state (SplitMix64, Steele et al. 2014). */
uint64_t
NextWord(uint64_t& state)
{
    state += 0x9e3779b97f4a7c15ULL;
    uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31);
}

/** Uniform in (0, 1]: never zero, whose logarithm there is none of. */
double
Uniform(uint64_t word)
{
    constexpr double UNIT = 0x1p-53;
    return static_cast<double>((word >> 11) + 1) * UNIT;
}

/** Standard normal (Box and Muller 1958). */
double
Normal(uint64_t& state)
{
    const double radius = std::sqrt(-2 * std::log(Uniform(NextWord(state))));
    return radius * std::cos(TWO_PI * Uniform(NextWord(state)));
}

} // namespace

const char*
ToString(JitterScope scope)
{
    switch (scope)
    {
    case JitterScope::Run:
        return "run";
    case JitterScope::Step:
        return "step";
    case JitterScope::Operation:
        return "operation";
    }
    throw std::logic_error("ToString: no such JitterScope");
}

RankJitter::RankJitter(const JitterSpec& spec)
    : m_spec(spec)
{
    const double variation = spec.coefficientOfVariation;
    if (!(variation >= 0) || std::isinf(variation))
    {
        throw std::invalid_argument(
            "RankJitter: the coefficient of variation must be finite and not negative");
    }
    m_sigma = std::sqrt(std::log1p(variation * variation));
}

double
RankJitter::Factor(uint32_t rank, uint32_t step, uint32_t operation) const
{
    if (!m_spec.IsOn())
    {
        return 1;
    }
    uint64_t state = m_spec.seed;
    state = NextWord(state) ^ rank;
    if (m_spec.scope != JitterScope::Run)
    {
        state = NextWord(state) ^ step;
    }
    if (m_spec.scope == JitterScope::Operation)
    {
        state = NextWord(state) ^ operation;
    }
    return std::exp(m_sigma * Normal(state) - m_sigma * m_sigma / 2);
}

} // namespace weir
