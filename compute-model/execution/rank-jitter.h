// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_RANK_JITTER_H
#define WEIR_COMPUTE_MODEL_EXECUTION_RANK_JITTER_H

#include <cstdint>

namespace weir
{

/** Scope of one random factor. */
enum class JitterScope : uint8_t
{
    Run,      //!< one factor per rank: GPUs that differ
    Step,     //!< one factor per rank and step: host disturbances, clock variation
    Operation //!< one factor per operation of the compute stream, rank and step
};

const char* ToString(JitterScope scope);

/** Variation of kernel times between ranks, by factors of mean 1. */
struct JitterSpec
{
    double coefficientOfVariation{0}; //!< standard deviation of the factors; 0: no variation
    JitterScope scope{JitterScope::Step};
    uint64_t seed{1};

    bool IsOn() const
    {
        return coefficientOfVariation > 0;
    }
};

/**
 * Draws the factors of a JitterSpec: lognormal of mean 1, exp(s z - s^2 / 2) with z standard normal
 * and s^2 = ln(1 + v^2) for a coefficient of variation v. A factor depends only on the seed and on
 * the rank, step and operation within its scope, so the order of the draws does not matter.
 */
class RankJitter
{
  public:
    /** @throws std::invalid_argument when the coefficient of variation is negative or not finite.
     */
    explicit RankJitter(const JitterSpec& spec);

    /**
     * The factor of @p operation of @p rank in @p step; arguments outside the scope are ignored.
     */
    double Factor(uint32_t rank, uint32_t step, uint32_t operation) const;

  private:
    JitterSpec m_spec;
    double m_sigma{0}; //!< of the factor's logarithm
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_RANK_JITTER_H
