// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/corrected/link-utilization.h"

namespace weir
{

void
LinkUtilization::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"ofLink",
                    "Part of a network link's rate that flows on it get; 1: all of it.",
                    "what acknowledgments leave where bytes go both ways, 4096 / (4096 + 84), and "
                    "what congestion control aims at, HPCC's eta"},
                   ofLink,
                   {0.1, 1});
}

} // namespace weir
