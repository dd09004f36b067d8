// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/hybrid/coupling-spec.h"

namespace weir
{

void
CouplingSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Duration({"window",
                      "Time after which the fluid learns what packets have used; 0: the shortest "
                      "round trip of a flow of packets."},
                     window,
                     {Time(), Time::Seconds(1)});
    visitor.Flag({"insideNodes",
                  "What a job or event that moves as packets sends inside a node does so, too."},
                 insideNodes);
}

} // namespace weir
