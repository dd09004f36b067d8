// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_USUAL_EFFICIENCY_H
#define WEIR_SCENARIOS_READERS_USUAL_EFFICIENCY_H

#include "fabric/topology/cluster-spec.h"

#include <cstdint>

namespace weir
{

/**
 * What transfers reach of what a link's packets leave, as others of its kind do: `measured` of a
 * link whose description gives the packet format and nothing else.
 */
struct UsualEfficiency
{
    double measured;
    const char* source;
};

/** By the GPUs' generation. */
UsualEfficiency UsualNvLink(uint32_t computeCapability);

UsualEfficiency UsualPcie();

UsualEfficiency UsualPort(NetTransport transport);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_USUAL_EFFICIENCY_H
