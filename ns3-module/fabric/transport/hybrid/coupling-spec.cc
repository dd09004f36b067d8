// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/hybrid/coupling-spec.h"

namespace weir
{

void
CouplingSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Duration({"window",
                      "Interval at which the fluid learns the rates of packets; 0: the shortest "
                      "round-trip time of a packet flow."},
                     window,
                     {Time(), Time::Seconds(1)});
    visitor.Flag({"insideNodes",
                  "Whether traffic inside nodes also moves as packets, for jobs and events whose "
                  "flows are packets; false: it is fluid."},
                 insideNodes);
}

} // namespace weir
