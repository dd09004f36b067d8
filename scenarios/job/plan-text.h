// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_PLAN_TEXT_H
#define WEIR_JOB_PLAN_TEXT_H

#include "compute-model/plan/parallel-plan.h"

#include <string>

namespace ns3
{

/**
 * Reads plan values that only scenario text can express. Invalid text ends the program; so does any
 * text where Weir is built without its readers.
 * @param attribute that holds the text, for messages
 * @param text a plan in a scenario's syntax
 * @return the plan
 */
weir::ParallelPlan ParsePlanText(const char* attribute, const std::string& text);

} // namespace ns3

#endif // WEIR_JOB_PLAN_TEXT_H
