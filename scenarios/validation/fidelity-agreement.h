// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_FIDELITY_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_FIDELITY_AGREEMENT_H

#include "collectives/collective.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/fidelity.h"
#include "fabric/units.h"
#include "scenarios/catalog.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/validation/case-outcome.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** One cluster on which calls are timed, each on an idle fabric. */
class FidelityBench : private CollectiveClient
{
  public:
    explicit FidelityBench(const ClusterSpec& spec);

    Planner& GetPlanner()
    {
        return m_simulation.GetPlanner();
    }

    const Cluster& GetCluster() const
    {
        return m_simulation.GetCluster();
    }

    /** When the last of @p calls ends, all started together. */
    Time Run(Fidelity fidelity, const std::vector<CollectiveCall>& calls);

    /** What one of @p calls back-to-back calls takes. */
    Time RunRow(Fidelity fidelity, const CollectiveCall& call, uint32_t calls);

  private:
    void OnCollectiveDone(uint64_t token, Time now) override;

    Simulation m_simulation;
    Time m_last;
};

/** Which GPUs of a cluster a compared collective runs on. */
enum class ComparedPlacement : uint8_t
{
    Packed,      //!< all GPUs of the nodes
    Strided,     //!< every second GPU of twice as many nodes
    Concurrent,  //!< packed, and the same call in reverse rank order at the same time
    Interleaved, //!< every second GPU of the nodes, and the others at the same time
    Beside,      //!< packed, and another operation or algorithm at the same time
    InRow,       //!< packed, twenty such calls after each other, as benchmarks have them
    Sampled      //!< packed, of a size, protocol and channels drawn at random
};

/** One call in all fidelities. */
struct FidelityPoint
{
    std::string system;
    uint32_t nodes{1};
    CollectiveOp op{CollectiveOp::AllReduce};
    Algorithm algorithm{Algorithm::Ring};
    ComparedPlacement placement{ComparedPlacement::Packed};
    CollectiveOp otherOp{CollectiveOp::AllReduce}; //!< beside it, in ComparedPlacement::Beside
    Algorithm otherAlgorithm{Algorithm::Ring};     //!< similarly
    Bytes size;
    Time analytical;
    Time stream;
    Time flow;
    Time least; //!< a lower bound of any execution, see MinTime

    /** The fastest fidelity over `least`: below 1 it is impossible. */
    double OverLeast() const
    {
        return std::min({analytical, stream, flow}) / least;
    }

    /** Relative: positive when flow is slower than the stream. */
    double FlowOverStream() const
    {
        return flow / stream - 1;
    }

    /** The same for the stream over the closed form; of concurrent calls it means nothing. */
    double StreamOverAnalytical() const
    {
        return stream / analytical - 1;
    }
};

/**
 * On machines of one NVSwitch generation and another and on a mesh, runs every operation under
 * every algorithm that the group can run, from 16 KiB to 256 MiB, packed over 1, 2 and 4 nodes,
 * strided, concurrently and interleaved; some pairs that training runs at once, as the all-gather
 * and reduce-scatter of sharded layers; rows of calls that overlap; and rings and trees of sizes,
 * protocols and channels drawn at random (seeded), on 1 to 8 nodes.
 * @param progress is called after every placement
 */
std::vector<FidelityPoint> CompareFidelities(const Catalog& catalog, const ShowSuite& progress);

/**
 * A table of median and worst difference by algorithm and placement, with the call that is the
 * worst, and why the fidelities differ at all.
 */
std::string ToText(const std::vector<FidelityPoint>& points);

/**
 * The points as cases. In the class "flow/stream", and in one of its placement and algorithm, the
 * flow's time beside the stream's; in "stream/closed form" calls alone on the fabric; in
 * "fastest/least time" the fastest fidelity beside what no way of running the call undercuts.
 */
std::vector<CaseOutcome> CasesOf(const std::vector<FidelityPoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_FIDELITY_AGREEMENT_H
