// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_AGREEMENT_H

#include "fabric/transport/corrected/correction-spec.h"
#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/bound/conformal.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weir
{

// Comparisons of Weir's fidelities with each other. "measured" of a CaseOutcome is the reference,
// in seconds. Each function calls `progress` periodically.

/**
 * Compares fidelities of collectives on machines with two NVSwitch generations and with a mesh.
 * Runs every operation under every algorithm that the group supports, from 16 KiB to 256 MiB,
 * packed over 1, 2 and 4 nodes, strided, concurrent and interleaved; pairs that training runs
 * concurrently, such as all-gather and reduce-scatter of sharded layers; back-to-back calls that
 * overlap; and rings and trees of random (seeded) sizes, protocols and channels on 1 to 8 nodes.
 *
 * Classes: "flow/stream", and one per placement and algorithm, compare the flow's time with the
 * stream's; "stream/closed form" is for calls that have the fabric to themselves; "fastest/lower
 * bound" compares the fastest fidelity with a lower bound of the time (MinTime).
 */
std::vector<CaseOutcome> CompareFidelities(const Catalog& catalog, const ShowSuite& progress);

/**
 * Compares fidelities of random (seeded) uncontended calls on random machines: a system of the
 * catalog with 1 to 17 nodes, some or all of their GPUs, its own fabric or leaves and spines, 1:1
 * or 2:1, with ECMP or packet spraying; any operation, algorithm and protocol, 8 B to 256 MiB.
 * Calls that overlap when they follow each other are back to back.
 *
 * Classes: "drawn: flow/stream", and one per algorithm; "drawn: stream/closed form".
 */
std::vector<CaseOutcome> CompareDrawn(const Catalog& catalog, const ShowSuite& progress);

/**
 * Compares fidelities for ring and tree all-reduce and all-to-all of 64 MiB over 16 nodes of four
 * GPUs and NICs, on dragonflies, a dragonfly+, a torus, a fat tree with 2:1 oversubscription and a
 * leaf-spine, under every routing policy that the fabric supports.
 *
 * Classes: "fabrics: flow/stream", and one per routing policy, compare the flow's time with the
 * stream's; "fabrics: stream/closed form".
 */
std::vector<CaseOutcome> CompareOnFabrics(const Catalog& catalog, const ShowSuite& progress);

/**
 * Compares fidelities for mixtures of jobs with random collectives on separate or shared nodes
 * (SampleJobs, with a seed that no bound was calibrated or is tested with), on random machines,
 * fabrics and routing policies. In about two of five cases a link between switches fails at a
 * random time during the first job.
 *
 * Classes: "mixtures: flow/stream", with the suffixes "no failure" or "failure", "contended" (by
 * the other job) or "uncontended", and the first job's algorithm or operation.
 */
std::vector<CaseOutcome> CompareMixtures(const Catalog& catalog, const ShowSuite& progress);

/**
 * Compares fidelities for two jobs on alternate nodes of a leaf-spine with 4:1 oversubscription, 16
 * nodes of 8 H100: all-reduce by NVLSTree, tree and ring and a ring all-gather, each concurrent
 * with an all-to-all, a ring and a tree, with packet spraying and ECMP.
 *
 * Classes: "oversubscribed: flow/stream", and one per algorithm of the first job and routing.
 */
std::vector<CaseOutcome> CompareOversubscribed(const Catalog& catalog, const ShowSuite& progress);

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

/**
 * Compares hybrid simulation with packets only. Jobs of rings, trees and all-to-alls share leaves
 * and spines with an all-to-all of another job, under several congestion controls: the mean call of
 * the job against that with both jobs as packets. For DrawEvenTraffic, under the same controls and
 * several seeds, every fourth flow is of interest: mean completion times against those with all
 * flows as packets.
 *
 * Classes: "job" and one per kind of job have the job as packets next to a fluid; "fluid job" has
 * no packets. Flows: "packets" and one per congestion control for the flows of interest as packets;
 * "background" for the other flows, which are a fluid; "fluid" for the flows of interest without
 * packets.
 */
std::vector<CaseOutcome> CompareHybrid(const Catalog& catalog, const ShowSuite& progress);

/**
 * Compares replayed with fully simulated packets: two jobs of random collectives that share leaves
 * and spines, permutations of long transfers, and training steps, under several congestion
 * controls. "replay" replays exactly equal episodes; "tolerance" also replays similar episodes and
 * settled periods within 1 %. Both also have a class per kind of work ("replay transfers").
 */
std::vector<CaseOutcome> CompareSettled(const Catalog& catalog, const ShowSuite& progress);

/**
 * Compares steps in closed form with fluid flows, for combinations of parallelism whose
 * communication contends for links: tensor groups over several nodes concurrent with gradient
 * buckets, fully sharded replicas, experts, context parallelism, pipelines; with a network port per
 * GPU, with ports that GPUs share, and with 2:1 oversubscription. The class of a case is its
 * machine.
 */
std::vector<CaseOutcome> ComparePlans(const Catalog& catalog, const ShowSuite& progress);

/**
 * Coverage of the bounds of one regime, or of all regimes in a shifted population, on fresh cases.
 */
struct BoundCheck
{
    CalibratedThing thing{CalibratedThing::Collectives};
    Population population{Population::Calibrated};
    std::string regime;     //!< empty: all regimes of the population
    std::size_t fresh{0};   //!< number of drawn cases
    std::size_t refused{0}; //!< cases outside the calibrated region
    std::size_t covered{0}; //!< accepted cases whose reference time is within the bound
    CoverageRange expected; //!< central 99.9 % interval of the number covered
    double medianWidth{0};  //!< median of (upper - lower end) / estimate
};

/** Median width of bounds without contention, except for sends and receives only. */
struct BoundWidth
{
    CalibratedThing thing{CalibratedThing::Collectives};
    double median{0};
};

/** One fresh case of the calibrated population, inside the calibrated region. */
struct BoundPoint
{
    CalibratedThing thing{CalibratedThing::Collectives};
    double bytes{0};                //!< size, for a collective
    double ratio{1};                //!< reference time / estimate
    std::vector<ErrorBound> bounds; //!< by coverage
};

struct BoundAgreement
{
    double coverage{0.9};
    std::vector<BoundCheck> checks;
    std::vector<BoundWidth> widths;
    std::vector<BoundPoint> points;
};

/**
 * Checks the shipped calibrations on fresh samples: of the calibrated populations with other seeds,
 * and of shifted populations with larger groups, more oversubscription or other link speeds. Counts
 * by regime how often the reference time is within the bound, and how often a bound is refused.
 * @param progress called periodically
 */
BoundAgreement CheckBounds(const Catalog& catalog, const ShowSuite& progress);

/** Formats a table of regimes and one of shifted populations. */
std::string ToText(const BoundAgreement& agreement);

/**
 * Cases for the suite's statements. Class "covered", for regimes and shifted populations: the
 * number covered, compared with the lower end of the beta-binomial interval. "width of collectives"
 * and similar classes: one plus the median width without contention. "refused", for shifted
 * populations: the fraction refused, compared with one half.
 */
std::vector<CaseOutcome> CasesOf(const BoundAgreement& agreement);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_AGREEMENT_H
