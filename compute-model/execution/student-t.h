// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STUDENT_T_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STUDENT_T_H

#include <cstddef>

namespace weir
{

/**
 * Student's t with @p freedom degrees of freedom that 95 % of draws stay within on both sides of
 * zero: 12.7 at 1, 4.30 at 2, and down to the normal distribution's 1.96. Right to 1e-6, relative.
 *
 * Below 30 degrees it is found by bisection of the distribution function, a finite series
 * (Abramowitz and Stegun, 26.7.3 and 26.7.4); from there on by the expansion about the normal
 * quantile (26.7.5).
 * @throws std::invalid_argument at no degrees of freedom.
 */
double StudentT95(std::size_t freedom);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STUDENT_T_H
