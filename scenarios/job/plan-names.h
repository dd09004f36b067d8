// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_PLAN_NAMES_H
#define WEIR_JOB_PLAN_NAMES_H

#include "compute-model/execution/rank-jitter.h"
#include "compute-model/kernels/overlap-slowdown.h"
#include "compute-model/plan/parallel-plan.h"

#include <string>

/**
 * @file
 * The choices of a parallel plan by the names that scenario files use, for attributes. Each
 * function ends the program, naming what there is to choose from, when a name is none of them.
 */
namespace ns3
{

/**
 * @param name fp32, tf32, fp16, bf16 or fp8
 * @return the format
 */
weir::Precision ParsePrecision(const std::string& name);

/**
 * @param name run, step or operation
 * @return what jitter is drawn again for
 */
weir::JitterScope ParseJitterScope(const std::string& name);

/**
 * @param text modeled, off, or a factor of at least 1
 * @return what kernels beside communication lose
 */
weir::OverlapPolicy ParseOverlap(const std::string& text);

} // namespace ns3

#endif // WEIR_JOB_PLAN_NAMES_H
