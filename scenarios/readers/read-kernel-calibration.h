// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_KERNEL_CALIBRATION_H
#define WEIR_SCENARIOS_READERS_READ_KERNEL_CALIBRATION_H

#include "compute-model/kernels/kernel-calibration.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * The `kernels` of a GPU's description, complete (a base already laid under it). Each class of
 * kernels has a `source` of its own.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
KernelCalibration ReadKernelCalibration(const YamlNode& node);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_KERNEL_CALIBRATION_H
