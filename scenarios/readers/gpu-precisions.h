// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_GPU_PRECISIONS_H
#define WEIR_SCENARIOS_READERS_GPU_PRECISIONS_H

#include "compute-model/kernels/gpu.h"

#include <string>

namespace weir
{

/**
 * What is wrong with computing in @p precision on @p gpu: nothing, or "found bf16, expected one of:
 * fp16, fp32 (v100-sxm-32g multiplies matrices in no other)".
 */
std::string WrongPrecision(const Gpu& gpu, Precision precision);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_GPU_PRECISIONS_H
