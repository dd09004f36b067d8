// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_DESCRIBE_CALIBRATION_H
#define WEIR_SCENARIOS_MACHINE_DESCRIBE_CALIBRATION_H

#include "scenarios/machine/calibrate-machine.h"

#include <string>

namespace weir
{

/** "a.csv: all-reduce, 4 nodes of 8 GPUs, NCCL 2.26.2, 27 sizes". */
std::string DescribeRun(const MeasuredCollective& run);

/**
 * The runs; each parameter with its value before and after, its standard error or why it is not
 * determined; errors by class before, after and held out; the bounds.
 */
std::string DescribeCalibration(const MachineCalibration& calibration, const MachineFitSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_DESCRIBE_CALIBRATION_H
