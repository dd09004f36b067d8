// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_SETTLE_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_SETTLE_AGREEMENT_H

#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <string>
#include <vector>

namespace weir
{

/** A scenario of which all packets are simulated, or none that is known already. */
struct SettlePoint
{
    std::string name;
    bool isTraining{false};  //!< a training step; else two jobs of collectives
    double packets{0};       //!< its end or its last step, all packets, s
    double replayed{0};      //!< similarly, what is exactly alike replayed
    double tolerated{0};     //!< similarly, what is alike to 1 %
    double packetSeconds{0}; //!< wall time of these three
    double replayedSeconds{0};
    double toleratedSeconds{0};
};

/**
 * Two jobs of random collectives that share leaves and spines, under each of some congestion
 * controls, and training steps, in packets and replayed.
 * @param progress is called after every scenario
 */
std::vector<SettlePoint> CompareSettled(const Catalog& catalog, const ShowSuite& progress);

/** A line a scenario. */
std::string ToText(const std::vector<SettlePoint>& points);

/** The points as cases against all packets, in the classes "replay" and "tolerance". */
std::vector<CaseOutcome> CasesOf(const std::vector<SettlePoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_SETTLE_AGREEMENT_H
