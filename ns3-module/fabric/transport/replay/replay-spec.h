// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_SPEC_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_SPEC_H

#include "fabric/parameters/parameter-visitor.h"

namespace weir
{

/** What of a run in packets need not be simulated packet by packet. */
struct SettleSpec : Parameterized
{
    bool replay{false};
    double tolerance{0}; //!< more than zero: replay, too

    bool IsOn() const
    {
        return replay || tolerance > 0;
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_REPLAY_SPEC_H
