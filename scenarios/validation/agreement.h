// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_AGREEMENT_H

#include "scenarios/validation/case-outcome.h"

#include <vector>

namespace weir
{

class Catalog;

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
 * or 2:1, with ECMP or packet spraying; any operation but a single send, any
 * algorithm and protocol, 8 B to 256 MiB. Calls that overlap when they follow each other are back
 * to back.
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

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_AGREEMENT_H
