// SPDX-License-Identifier: GPL-2.0-only
// Replaces plan-text.cc in builds without the readers.
#include "plan-text.h"

#include "ns3/abort.h"

namespace ns3
{

weir::ParallelPlan
ParsePlanText(const char* attribute, const std::string& text)
{
    NS_ABORT_MSG("TrainingJob: " << attribute << " is '" << text
                                 << "', which needs Weir's readers (yaml-cpp, HDF5, pugixml, "
                                    "nlohmann-json), absent when it was built");
}

} // namespace ns3
