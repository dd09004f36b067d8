// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/simulation-loop.h"

#ifdef WEIR_WITH_NS3
#include "scenarios/job/ns3-loop.h"
#endif

namespace weir
{

std::unique_ptr<EngineLoop>
MakeEngineLoop(Fidelity fidelity)
{
#ifdef WEIR_WITH_NS3
    // Packets have millions of events inside the transport; these need no scheduler.
    if (fidelity == Fidelity::Stream || fidelity == Fidelity::Flow || fidelity == Fidelity::Auto)
    {
        return std::make_unique<Ns3Loop>();
    }
#endif
    return std::make_unique<PlainLoop>();
}

} // namespace weir
