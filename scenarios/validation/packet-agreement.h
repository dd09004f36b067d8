// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H

#include "fabric/transport/corrected/correction-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * A message, or a collective from its beginning to its end, as packets, as a fluid and as a fluid
 * with corrections.
 */
struct PacketPoint
{
    std::string regime;  //!< name of a network and its corrections
    std::string traffic; //!< of RegimeTraffic
    uint64_t seed{0};
    uint32_t message{0};
    double packets{0}; //!< seconds
    double fluid{0};
    double corrected{0};
};

/**
 * Networks that packets and flows are compared on: 32 hosts on four leaves and eight spines of 100
 * Gb/s, as lossless Ethernet under some congestion controls, with InfiniBand's credits, and where
 * packets are sprayed.
 */
std::vector<std::string> PacketRegimes();

/**
 * The traffic of DrawRegimeTraffic in every regime, with the corrections of its name in the
 * catalogue, and seeds that CalibrateCorrections has not seen.
 * @param progress is called after every regime and seed
 */
std::vector<PacketPoint> CompareWithPackets(const Catalog& catalog, const ShowSuite& progress);

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

/** Median, 90th percentile and worst difference by regime and traffic, without corrections and
 * with. */
std::string ToText(const std::vector<PacketPoint>& points);

/**
 * The points as cases, packets being what is compared with: "flow/packet" and "flow/packet REGIME"
 * without corrections, "corrected/packet" and "corrected/packet REGIME" with them.
 */
std::vector<CaseOutcome> CasesOf(const std::vector<PacketPoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_PACKET_AGREEMENT_H
