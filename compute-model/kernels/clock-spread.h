// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_CLOCK_SPREAD_H
#define WEIR_COMPUTE_MODEL_KERNELS_CLOCK_SPREAD_H

#include "compute-model/kernels/gpu.h"

#include <cstdint>

namespace weir
{

/**
 * The largest of @p parts draws of a standard normal, on the average: the quantile of
 * (n - 3/8) / (n + 1/4) (Blom 1958, Statistical Estimates and Transformed Beta-Variables); 0 for
 * one, 1.42 for 8, 2.50 for 100. @p parts is at least 1.
 */
double ExpectedLargest(uint32_t parts);

/**
 * The slowest of @p parts GPUs of one model, on the average: under a power limit every part settles
 * at a clock of its own (`clockSpread`), and GPUs that train one model in step go as the slowest.
 */
Gpu SlowestOf(const Gpu& gpu, uint32_t parts);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_CLOCK_SPREAD_H
