// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H

#include "fabric/transport/corrected/correction-spec.h"
#include "scenarios/validation/case-outcome.h"

#include <string>
#include <vector>

namespace weir
{

class Catalog;

/**
 * Names of the networks on which packets and fluid flows are compared: 32 hosts on four leaves and
 * eight spines with links of 100 Gb/s, as lossless Ethernet under several congestion controls, with
 * InfiniBand's credits, and with packet spraying.
 */
std::vector<std::string> PacketRegimes();

/**
 * Compares fluid flows with packets for the traffic of DrawRegimeTraffic in every packet regime,
 * without corrections and with those of the regime's name in the catalog. The seeds differ from
 * those of CalibrateCorrections.
 *
 * Classes: "flow/packet", one per regime and one per regime and traffic for a fluid without
 * corrections; "corrected/packet" and similar classes with corrections.
 */
std::vector<CaseOutcome> CompareWithPackets(const Catalog& catalog, const ShowSuite& progress);

/** Corrections of one regime, and the mean error of fluid flows without and with them. */
struct CorrectionFit
{
    CorrectionSpec spec;
    double errorBefore{0}; //!< mean |flow / packet - 1|, kinds of traffic weighted equally
    double errorAfter{0};
};

/**
 * Calibrates the corrections of @p regime. Some parameters follow from its packet configuration; a
 * grid search over the others minimizes the mean error over separate seeds. A correction that does
 * not reduce the error stays off.
 * @param progress called after every evaluation
 * @throws std::invalid_argument when there is no such regime.
 */
CorrectionFit CalibrateCorrections(const std::string& regime,
                                   const Catalog& catalog,
                                   const ShowSuite& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H
