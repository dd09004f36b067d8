// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_RANK_JITTER_H
#define WEIR_COMPUTE_MODEL_EXECUTION_RANK_JITTER_H

#include <cstdint>

namespace weir
{

/** What is drawn again. */
enum class JitterScope : uint8_t
{
    Run,      //!< each rank once: GPUs that differ
    Step,     //!< each rank in each step: a disturbed host, a clock that wanders
    Operation //!< each operation of the compute stream of each rank and step
};

const char* ToString(JitterScope scope);

/** How the times of kernels differ from rank to rank: by factors of mean 1. */
struct JitterSpec
{
    double coefficientOfVariation{0}; //!< standard deviation of the factors; 0: none differ
    JitterScope scope{JitterScope::Step};
    uint64_t seed{1};

    bool IsOn() const
    {
        return coefficientOfVariation > 0;
    }
};

/**
 * Draws the factors of a JitterSpec: lognormal of mean 1, exp(s z - s^2 / 2) with z standard normal
 * and s^2 = ln(1 + v^2) for a coefficient of variation v. A factor depends on the seed and on what
 * it is drawn for alone, so the order of the draws does not matter.
 */
class RankJitter
{
  public:
    /** @throws std::invalid_argument when the coefficient of variation is negative or not finite.
     */
    explicit RankJitter(const JitterSpec& spec);

    /** The factor of @p operation of @p rank in @p step, as far as the scope tells them apart. */
    double Factor(uint32_t rank, uint32_t step, uint32_t operation) const;

  private:
    JitterSpec m_spec;
    double m_sigma{0}; //!< of the factor's logarithm
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_RANK_JITTER_H
