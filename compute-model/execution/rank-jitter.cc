// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/rank-jitter.h"

#include "fabric/enum-names.h"
#include "fabric/routing/flow-hash.h"

#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr double TWO_PI = 6.283185307179586;

/** The next word of the generator SplitMix64 whose state is @p state. */
uint64_t
NextWord(uint64_t& state)
{
    const uint64_t word = SplitMix64(state);
    state += SPLIT_MIX_64_STEP;
    return word;
}

/** Uniform in (0, 1]; never zero, so that it has a logarithm. */
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
    static constexpr EnumName<JitterScope> NAMES[]{
        {JitterScope::Run, "run"},
        {JitterScope::Step, "step"},
        {JitterScope::Operation, "operation"},
    };
    return NameIn(NAMES, scope);
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
