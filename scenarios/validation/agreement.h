// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_AGREEMENT_H

#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <vector>

namespace weir
{

// Comparisons of Weir with itself: what is predicted and what it is compared with, in seconds. Each
// calls `progress` now and then.

/**
 * On machines of one NVSwitch generation and another and on a mesh, runs every operation under
 * every algorithm that the group can run, from 16 KiB to 256 MiB, packed over 1, 2 and 4 nodes,
 * strided, concurrently and interleaved; some pairs that training runs at once, as the all-gather
 * and reduce-scatter of sharded layers; rows of calls that overlap; and rings and trees of sizes,
 * protocols and channels drawn at random (seeded), on 1 to 8 nodes.
 *
 * Classes: "flow/stream", and one of its placement and algorithm, the flow's time against the
 * stream's; "stream/closed form" of calls that have the fabric to themselves; "fastest/least time"
 * the fastest fidelity against what no way of running the call undercuts (MinTime).
 */
std::vector<CaseOutcome> CompareFidelities(const Catalog& catalog, const ShowSuite& progress);

/**
 * Ring and tree all-reduce and all-to-all of 64 MiB over 16 nodes of four GPUs and NICs, on
 * dragonflies, a dragonfly+, a torus, a fat tree with half the links upwards and a leaf-spine,
 * under every routing that the fabric can have.
 *
 * Classes: "fabrics: flow/stream", and one of its routing, the flow's time against the stream's;
 * "fabrics: stream/closed form".
 */
std::vector<CaseOutcome> CompareOnFabrics(const Catalog& catalog, const ShowSuite& progress);

/**
 * Jobs of random collectives whose GPUs are of other nodes or of the same (SampleJobs, of a seed
 * that no bound was calibrated or is tested with): on random machines, fabrics and routings, two in
 * five with a wire between switches that fails at random during the first job.
 *
 * Classes: "mixtures: flow/stream", of them "whole" or "failure", "slowed" by the other job or
 * "apart", and one of the first job's algorithm or operation.
 */
std::vector<CaseOutcome> CompareMixtures(const Catalog& catalog, const ShowSuite& progress);

/**
 * The traffic of DrawRegimeTraffic in every regime of packets, with the corrections of its name in
 * the catalogue, and seeds that CalibrateCorrections has not seen.
 *
 * Classes: "flow/packet", one of its regime and one of regime and traffic, a fluid without
 * corrections against packets; "corrected/packet" and others of that kind with them.
 */
std::vector<CaseOutcome> CompareWithPackets(const Catalog& catalog, const ShowSuite& progress);

/**
 * Jobs of rings, of trees and of all-to-alls that share leaves and spines with an all-to-all of
 * another job, under each of some congestion controls: the mean call of the job against that with
 * both as packets. And mean completion times of the flows of DrawEvenTraffic, of which every fourth
 * one is of interest, under each of these and some seeds, against those with all flows as packets.
 *
 * Classes: a job as packets beside a fluid in "job" and its kind, without packets in "fluid job".
 * Flows: those of interest as packets in "packets" and their congestion control, the others, a
 * fluid, in "rest", and those of interest without packets in "fluid".
 */
std::vector<CaseOutcome> CompareHybrid(const Catalog& catalog, const ShowSuite& progress);

/**
 * Two jobs of random collectives that share leaves and spines, under each of some congestion
 * controls, permutations of long transfers and training steps: what is exactly alike replayed
 * ("replay") and what is alike or settled to 1 % ("tolerance") against all packets; both with the
 * kind behind it ("replay transfers") are classes, too.
 */
std::vector<CaseOutcome> CompareSettled(const Catalog& catalog, const ShowSuite& progress);

/**
 * Steps under products of parallelism whose communications meet on links: tensor ranks over several
 * nodes beside gradient buckets, fully sharded replicas, experts, parts of sequences, pipelines,
 * with a network port to each GPU, with ports that GPUs share, and with half the links upwards.
 * Closed forms against fluid flows, each in the class of its machine.
 */
std::vector<CaseOutcome> ComparePlans(const Catalog& catalog, const ShowSuite& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_AGREEMENT_H
