// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/replay/replay-spec.h"

namespace weir
{

void
SettleSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Flag({"replay",
                  "What flows that share links did once, from the first one's start until all was "
                  "quiet, they do again when they start again at the same times from each other, "
                  "there or where links are alike; queue pairs forget congestion in between.",
                  "memoization of Wormhole (NSDI 2026), with exact keys"},
                 replay);
    visitor.Number({"tolerance",
                    "As replay, and of those whose flows start at nearly the same times, too: what "
                    "is told may be moved by that part of the time since the first start, or of "
                    "what the flow that starts takes alone. 0: none is moved."},
                   tolerance,
                   {0, 1});
}

} // namespace weir
