// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H

#include "fabric/transport/corrected/correction-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * Networks that packets and flows are compared on: 32 hosts on four leaves and eight spines of 100
 * Gb/s, as lossless Ethernet under some congestion controls, with InfiniBand's credits, and where
 * packets are sprayed.
 */
std::vector<std::string> PacketRegimes();

/** Corrections of one regime and how far a fluid is off without and with them. */
struct CorrectionFit
{
    CorrectionSpec spec;
    double errorBefore{0}; //!< mean of |flow / packet - 1|, of kinds of traffic alike
    double errorAfter{0};
};

/**
 * Corrections of @p regime: what of them follows from its packets, and what of the rest makes the
 * mean error least over seeds of its own. A model that does not make it less is off.
 * @param progress is called after every seed
 * @throws std::invalid_argument where there is no such regime.
 */
CorrectionFit CalibrateCorrections(const std::string& regime,
                                   const Catalog& catalog,
                                   const ShowSuite& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H
