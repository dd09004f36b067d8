// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H

#include "fabric/transport/corrected/link-utilization.h"
#include "fabric/transport/corrected/packet-forwarding.h"
#include "fabric/transport/corrected/rate-recovery.h"

#include <utility>
#include <vector>

namespace weir
{

/** What packets do that a fluid does not see, as models that are each off by default. */
struct CorrectionSpec
{
    PacketForwarding forwarding;
    LinkUtilization utilization;
    RateRecovery recovery;

    bool IsOn() const
    {
        return forwarding.IsOn() || utilization.IsOn() || recovery.IsOn();
    }

    /** Its models and their keys. */
    std::vector<std::pair<const char*, Parameterized*>> Parts()
    {
        return {
            {"forwarding", &forwarding}, {"utilization", &utilization}, {"recovery", &recovery}};
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H
