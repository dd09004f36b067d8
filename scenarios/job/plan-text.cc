// SPDX-License-Identifier: GPL-2.0-only
#include "plan-text.h"

#include "scenarios/readers/read-plan.h"

#include "ns3/abort.h"

#include <exception>

namespace ns3
{

weir::ParallelPlan
ParsePlanText(const char* attribute, const std::string& text)
{
    try
    {
        return weir::ReadPlan(weir::YamlNode::Parse(text, attribute));
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("TrainingJob: " << error.what());
    }
}

} // namespace ns3
