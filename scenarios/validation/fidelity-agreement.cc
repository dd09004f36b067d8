// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/routing-policies.h"
#include "scenarios/bound/random-draws.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/back-to-back-time.h"
#include "scenarios/validation/agreement.h"
#include "scenarios/validation/call-times.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <stdexcept>

namespace weir
{
namespace
{

constexpr CollectiveOp COMPARED_OPS[] = {CollectiveOp::AllReduce,
                                         CollectiveOp::AllGather,
                                         CollectiveOp::ReduceScatter,
                                         CollectiveOp::Broadcast,
                                         CollectiveOp::AllToAll};
constexpr Algorithm COMPARED_ALGORITHMS[] = {Algorithm::Ring,
                                             Algorithm::Tree,
                                             Algorithm::Nvls,
                                             Algorithm::NvlsTree,
                                             Algorithm::PointToPoint};
constexpr Bytes COMPARED_SIZES[] = {Bytes::KiB(16), Bytes::MiB(1), Bytes::MiB(16), Bytes::MiB(256)};

struct ComparedPair
{
    CollectiveOp op;
    Algorithm algorithm;
    CollectiveOp otherOp;
    Algorithm otherAlgorithm;
};

/**
 * All-gather and reduce-scatter of sharded layers; rings concurrent with trees, with and without
 * NVSwitch reduction.
 */
constexpr ComparedPair COMPARED_PAIRS[] = {
    {CollectiveOp::AllGather, Algorithm::Ring, CollectiveOp::ReduceScatter, Algorithm::Ring},
    {CollectiveOp::AllReduce, Algorithm::Tree, CollectiveOp::AllReduce, Algorithm::Ring},
    {CollectiveOp::AllReduce, Algorithm::NvlsTree, CollectiveOp::AllGather, Algorithm::Ring}};

/** The GPUs of a compared call, and the concurrent load. */
struct ComparedPlacement
{
    const char* name;
    uint32_t nodes;
    uint32_t stride{1};       //!< distance between its GPUs
    uint32_t nodesPerNode{1}; //!< nodes of the cluster per node of the call
    bool isUncontended{true};
};

constexpr ComparedPlacement FILLED[] = {{"packed", 1},
                                        {"packed", 2},
                                        {"packed", 4},
                                        {"strided", 2, 2, 2},
                                        {"concurrent", 2, 1, 1, false},
                                        {"interleaved", 2, 2, 1, false}};
constexpr ComparedPlacement CONCURRENT_PAIRS{"concurrent pair", 2, 1, 1, false};
constexpr ComparedPlacement BACK_TO_BACK[] = {{"back-to-back", 1, 1, 1, false},
                                              {"back-to-back", 2, 1, 1, false},
                                              {"back-to-back", 4, 1, 1, false}};
constexpr ComparedPlacement SAMPLED[] = {
    {"sampled", 1}, {"sampled", 2}, {"sampled", 4}, {"sampled", 8}};

constexpr const char* COMPARED_SYSTEMS[] = {"hgx-h100", "dgx-a100", "alps-gh200"};

/** Includes systems whose hops in and out of a GPU or node share a link. */
constexpr const char* BACK_TO_BACK_SYSTEMS[] = {
    "hgx-h100", "dgx-a100", "alps-gh200", "a100-pcie-8", "dgx1-v100", "polaris", "dgx2-v100"};

/** Includes systems with more channels than ports, where channels share links. */
constexpr const char* SAMPLED_SYSTEMS[] = {"hgx-h100", "dgx-a100", "oci-a100", "alps-gh200"};

struct FidelityTimes
{
    Time analytical;
    Time stream;
    Time flow;
};

FidelityTimes
TimesOf(Simulation& simulation, const std::vector<CollectiveCall>& calls)
{
    const Time analytical = ConcurrentTime(simulation, Fidelity::Analytical, calls);
    const Time stream = ConcurrentTime(simulation, Fidelity::Stream, calls);
    return {analytical, stream, ConcurrentTime(simulation, Fidelity::Flow, calls)};
}

std::string
NameOf(const CollectiveCall& call)
{
    return std::string(ToString(call.overrides.algorithm.value_or(Algorithm::Ring))) + " " +
           ToString(call.op);
}

ClusterSpec
SystemOf(const char* name, uint32_t nodes, const Catalog& catalog)
{
    ClusterSpec spec = ReadSystem(YamlNode::Parse(name, "fidelity"), catalog).cluster;
    spec.nodes = nodes;
    return spec;
}

std::vector<GpuId>
GpusFrom(uint32_t first, uint32_t stride, const ClusterSpec& spec)
{
    std::vector<GpuId> gpus;
    for (uint32_t gpu = first; gpu < spec.nodes * spec.node.gpus; gpu += stride)
    {
        gpus.emplace_back(gpu);
    }
    return gpus;
}

class Comparison
{
  public:
    Comparison(const char* system,
               const ComparedPlacement& placement,
               const Catalog& catalog,
               std::vector<CaseOutcome>& cases)
        : m_system(system),
          m_placement(placement),
          m_spec(SystemOf(system, placement.nodes * placement.nodesPerNode, catalog)),
          m_simulation(m_spec),
          m_gpus(GpusFrom(0, placement.stride, m_spec)),
          m_cases(cases)
    {
        call.communicator = m_simulation.GetPlanner().AddCommunicator(m_gpus);
    }

    /**
     * The call and, if the placement is contended, the same call on the other GPUs or in reverse
     * rank order.
     */
    std::vector<CollectiveCall> WithOther()
    {
        if (m_placement.isUncontended)
        {
            return {call};
        }
        if (!m_other)
        {
            m_other = m_simulation.GetPlanner().AddCommunicator(
                m_placement.stride > 1 ? GpusFrom(1, m_placement.stride, m_spec)
                                       : std::vector<GpuId>(m_gpus.rbegin(), m_gpus.rend()));
        }
        CollectiveCall other = call;
        other.communicator = *m_other;
        return {call, other};
    }

    /** Adds the concurrent @p calls, unless the planner has no such algorithm for one of them. */
    void Add(const std::vector<CollectiveCall>& calls, const std::string& concurrent = "")
    {
        try
        {
            for (const CollectiveCall& each : calls)
            {
                m_simulation.GetPlanner().Plan(each);
            }
        }
        catch (const std::invalid_argument&)
        {
            return;
        }
        AddCases(calls.front(), concurrent, TimesOf(m_simulation, calls));
    }

    void AddBackToBack(uint32_t calls)
    {
        const Time analytical = BackToBackTime(m_simulation, Fidelity::Analytical, call, calls);
        const Time stream = BackToBackTime(m_simulation, Fidelity::Stream, call, calls);
        AddCases(call,
                 "",
                 {analytical, stream, BackToBackTime(m_simulation, Fidelity::Flow, call, calls)});
    }

    CollectiveCall call; //!< the caller sets its other members

  private:
    void AddCases(const CollectiveCall& of,
                  const std::string& concurrent,
                  const FidelityTimes& times)
    {
        const std::string name = NameOf(of) + concurrent + " of " +
                                 std::to_string(of.bytes.Count()) + " B, " + m_placement.name +
                                 ", " + std::to_string(m_placement.nodes) + " x " + m_system;
        const std::string algorithm = ToString(of.overrides.algorithm.value_or(Algorithm::Ring));
        const std::string flow = "flow/stream";
        const Time lowerBound = MinTime(m_simulation.GetCluster(), m_gpus, of);
        m_cases.push_back(CaseOf(name,
                                 {flow, flow + " " + m_placement.name + " " + algorithm},
                                 times.stream,
                                 times.flow));
        m_cases.push_back(CaseOf(name,
                                 {"fastest/lower bound"},
                                 lowerBound,
                                 std::min({times.analytical, times.stream, times.flow})));
        if (m_placement.isUncontended)
        {
            m_cases.push_back(CaseOf(name, {"stream/closed form"}, times.analytical, times.stream));
        }
    }

    std::string m_system;
    ComparedPlacement m_placement;
    ClusterSpec m_spec;
    Simulation m_simulation;
    std::vector<GpuId> m_gpus;
    std::optional<CommunicatorId> m_other{};
    std::vector<CaseOutcome>& m_cases;
};

void
CompareAll(Comparison& comparison)
{
    for (const CollectiveOp op : COMPARED_OPS)
    {
        for (const Algorithm algorithm : COMPARED_ALGORITHMS)
        {
            for (const Bytes size : COMPARED_SIZES)
            {
                comparison.call.op = op;
                comparison.call.bytes = size;
                comparison.call.overrides.algorithm = algorithm;
                comparison.Add(comparison.WithOther());
            }
        }
    }
}

void
ComparePairs(Comparison& comparison)
{
    for (const ComparedPair& pair : COMPARED_PAIRS)
    {
        for (const Bytes size : COMPARED_SIZES)
        {
            CollectiveCall& call = comparison.call;
            call.bytes = size;
            call.op = pair.op;
            call.overrides.algorithm = pair.algorithm;
            CollectiveCall other = call;
            other.op = pair.otherOp;
            other.overrides.algorithm = pair.otherAlgorithm;
            comparison.Add({call, other}, " concurrent with " + NameOf(other));
        }
    }
}

/** Compares back-to-back calls of operations in which ranks need not wait for all others. */
void
CompareBackToBack(Comparison& comparison)
{
    for (const CollectiveOp op : {CollectiveOp::Broadcast, CollectiveOp::Reduce})
    {
        for (const Bytes size : COMPARED_SIZES)
        {
            comparison.call.op = op;
            comparison.call.bytes = size;
            comparison.AddBackToBack(BENCHMARK_CALLS);
        }
    }
}

/** Compares calls of random sizes from 4 KiB to 256 MiB, random channels and protocols. */
void
CompareSampled(Comparison& comparison, uint64_t seed)
{
    constexpr int CALLS = 20;
    constexpr uint64_t CHANNELS = 32; // the planner ignores channels that the group lacks
    std::mt19937_64 random(seed);
    const auto drawn = [&random](uint64_t choices) { return random() % choices; };
    for (int i = 0; i < CALLS; ++i)
    {
        CollectiveCall& call = comparison.call;
        const double bits = 12 + 16 * (static_cast<double>(drawn(1 << 20)) / (1 << 20));
        call.bytes = Bytes(static_cast<int64_t>(std::exp2(bits)));
        call.op = COMPARED_OPS[drawn(4)]; // operations with ring algorithms
        const bool isTree = call.op == CollectiveOp::AllReduce && drawn(3) == 0;
        call.overrides.algorithm = isTree ? Algorithm::Tree : Algorithm::Ring;
        constexpr Protocol PROTOCOLS[] = {Protocol::Ll, Protocol::Ll128, Protocol::Simple};
        call.overrides.protocol = PROTOCOLS[drawn(3)];
        call.overrides.channels = static_cast<uint32_t>(1 + drawn(CHANNELS));
        comparison.Add({call});
    }
}

struct NamedFabric
{
    std::string name;
    Polymorphic<FabricKind> kind;
};

/** A dragonfly or dragonfly+. */
template <typename Kind>
Kind
GroupsOf(uint32_t routers, uint32_t nicsPerRouter, NicPlacement placement)
{
    Kind kind;
    kind.routersPerGroup = routers;
    kind.nicsPerRouter = nicsPerRouter;
    kind.globalLinks = 2;
    kind.nicPlacement = placement;
    return kind;
}

/** Fabrics for nodes of four NICs. */
std::vector<NamedFabric>
ComparedFabrics()
{
    Torus torus;
    torus.nicsPerRouter = 4;
    torus.sizes = {4, 4};
    FatTree fatTree;
    fatTree.leafRadix = 24;
    fatTree.oversubscription = 2;
    LeafSpine leafSpine;
    leafSpine.leafRadix = 16;
    return {{"dragonfly, 2 groups", GroupsOf<Dragonfly>(4, 8, NicPlacement::Packed)},
            {"dragonfly, rails", GroupsOf<Dragonfly>(8, 2, NicPlacement::Rails)},
            {"dragonfly, 4 groups", GroupsOf<Dragonfly>(4, 4, NicPlacement::Packed)},
            {"dragonfly+", GroupsOf<DragonflyPlus>(4, 4, NicPlacement::Packed)},
            {"torus 4 x 4", torus},
            {"fat tree 2:1", fatTree},
            {"leaf-spine", leafSpine}};
}

/** Adds the calls on @p cluster, which is named @p clusterName in the cases. */
void
CompareOn(const ClusterSpec& cluster,
          const std::string& clusterName,
          const std::string& routing,
          std::vector<CaseOutcome>& cases)
{
    struct FabricCall
    {
        const char* name;
        CollectiveOp op;
        std::optional<Algorithm> algorithm;
    };

    constexpr FabricCall CALLS[] = {{"ring all-reduce", CollectiveOp::AllReduce, Algorithm::Ring},
                                    {"tree all-reduce", CollectiveOp::AllReduce, Algorithm::Tree},
                                    {"all-to-all", CollectiveOp::AllToAll, std::nullopt}};
    const std::string flow = "fabrics: flow/stream";
    Simulation simulation(cluster);
    CollectiveCall call;
    call.communicator = simulation.GetPlanner().AddCommunicator(GpusFrom(0, 1, cluster));
    call.bytes = Bytes::MiB(64);
    for (const FabricCall& each : CALLS)
    {
        call.op = each.op;
        call.overrides.algorithm = each.algorithm;
        const FidelityTimes times = TimesOf(simulation, {call});
        const std::string name = each.name + (", " + clusterName + ", " + routing);
        cases.push_back(CaseOf(name, {flow, flow + " " + routing}, times.stream, times.flow));
        cases.push_back(
            CaseOf(name, {"fabrics: stream/closed form"}, times.analytical, times.stream));
    }
}

/** Machines of all kinds of nodes: PCIe, NVLink meshes and NVSwitches, shared and own ports. */
const std::vector<std::string> DRAWN_SYSTEMS{"a100-pcie-8",
                                             "a100-pcie-hdr",
                                             "alps-gh200",
                                             "aws-p3-16xlarge",
                                             "dgx-a100",
                                             "dgx1-v100",
                                             "dgx2-v100",
                                             "hgx-b200",
                                             "hgx-b200-sharp",
                                             "hgx-h100",
                                             "hgx-h200-4",
                                             "hgx-h800",
                                             "oci-a100",
                                             "perlmutter",
                                             "polaris"};

/** A random machine: a system with some of its GPUs on its own fabric or leaves and spines. */
struct DrawnMachine
{
    DrawnMachine(RandomDraws& draws, const Catalog& catalog)
        : name(draws.OneOf(DRAWN_SYSTEMS))
    {
        constexpr uint32_t MAX_GPUS = 64;
        const std::vector<uint32_t> counts{1, 2, 3, 4, 5, 8, 13, 17};
        std::vector<std::string> settings;
        if (draws.With(0.5))
        {
            settings = {"fabric.kind=leaf-spine",
                        draws.With(0.5) ? "fabric.oversubscription=1" : "fabric.oversubscription=2",
                        draws.With(0.5) ? "fabric.routing=ecmp" : "fabric.routing=spray"};
        }
        spec = ReadSystem(SystemArgument(name, "system", settings), catalog).cluster;
        spec.nodes = std::min(MAX_GPUS / spec.node.gpus, draws.OneOf(counts));
        const uint32_t perNode =
            draws.With(1.0 / 3) ? 1 + draws.Below(spec.node.gpus) : spec.node.gpus;
        for (uint32_t gpu = 0; gpu < spec.nodes * spec.node.gpus; ++gpu)
        {
            if (gpu % spec.node.gpus < perNode)
            {
                gpus.emplace_back(gpu);
            }
        }
        for (const std::string& each : settings)
        {
            name += ", " + each;
        }
    }

    std::string name;
    ClusterSpec spec;
    std::vector<GpuId> gpus;
};

/** A random call; the planner refuses algorithms and protocols that the group lacks. */
CollectiveCall
DrawCall(RandomDraws& draws)
{
    const std::vector<CollectiveOp> ops{CollectiveOp::AllReduce,
                                        CollectiveOp::AllGather,
                                        CollectiveOp::ReduceScatter,
                                        CollectiveOp::Broadcast,
                                        CollectiveOp::Reduce,
                                        CollectiveOp::AllToAll,
                                        CollectiveOp::Gather,
                                        CollectiveOp::Scatter,
                                        CollectiveOp::SendRecv};
    const std::vector<Algorithm> algorithms{Algorithm::Ring,
                                            Algorithm::Tree,
                                            Algorithm::Nvls,
                                            Algorithm::NvlsTree,
                                            Algorithm::CollNetDirect,
                                            Algorithm::CollNetChain,
                                            Algorithm::Pat,
                                            Algorithm::DimensionWise};
    const std::vector<Protocol> protocols{Protocol::Ll, Protocol::Ll128, Protocol::Simple};
    CollectiveCall call;
    call.op = draws.OneOf(ops);
    call.bytes = Bytes(static_cast<int64_t>(draws.LogUniform(8, 256 << 20)));
    if (draws.With(0.5))
    {
        call.overrides.algorithm = draws.OneOf(algorithms);
    }
    if (draws.With(1.0 / 3))
    {
        call.overrides.protocol = draws.OneOf(protocols);
    }
    if (draws.With(0.25))
    {
        call.overrides.channels = 1U << draws.Below(5);
    }
    return call;
}

} // namespace

std::vector<CaseOutcome>
CompareDrawn(const Catalog& catalog, const ShowSuite& progress)
{
    constexpr std::size_t CASES = 400;
    constexpr uint64_t SEED = 43;
    const std::string flow = "drawn: flow/stream";
    std::vector<CaseOutcome> cases;
    for (uint64_t index = 0; cases.size() < 2 * CASES; ++index)
    {
        progress({cases.size() / 2, CASES, "drawn calls"});
        RandomDraws draws(SEED, index);
        const DrawnMachine machine(draws, catalog);
        if (machine.gpus.size() == 1)
        {
            continue;
        }
        CollectiveCall call = DrawCall(draws);
        Simulation simulation(machine.spec);
        call.communicator = simulation.GetPlanner().AddCommunicator(machine.gpus);
        const CollectivePlan* plan = nullptr;
        try
        {
            plan = &simulation.GetPlanner().Plan(call);
        }
        catch (const std::invalid_argument&)
        {
            continue;
        }
        const auto time = [&](Fidelity fidelity) {
            return BackToBackTime(simulation, fidelity, call, BENCHMARK_CALLS);
        };
        const Time stream = time(Fidelity::Stream);
        const std::string kind = ToString(plan->algorithm);
        const std::string name = kind + " " + ToString(plan->protocol) + " " + ToString(call.op) +
                                 ", " + std::to_string(plan->channels) + " channels, of " +
                                 std::to_string(call.bytes.Count()) + " B on " +
                                 std::to_string(machine.gpus.size()) + " GPUs of " +
                                 std::to_string(machine.spec.nodes) + " x " + machine.name;
        cases.push_back(CaseOf(name, {flow, flow + " " + kind}, stream, time(Fidelity::Flow)));
        cases.push_back(
            CaseOf(name, {"drawn: stream/closed form"}, time(Fidelity::Analytical), stream));
    }
    return cases;
}

std::vector<CaseOutcome>
CompareFidelities(const Catalog& catalog, const ShowSuite& progress)
{
    constexpr std::size_t ALL = std::size(COMPARED_SYSTEMS) * (std::size(FILLED) + 1) +
                                std::size(BACK_TO_BACK_SYSTEMS) * std::size(BACK_TO_BACK) +
                                std::size(SAMPLED_SYSTEMS) * std::size(SAMPLED);
    std::vector<CaseOutcome> cases;
    std::size_t done = 0;
    const auto compare = [&](const char* system, const ComparedPlacement& placement, auto calls) {
        Comparison comparison(system, placement, catalog, cases);
        calls(comparison);
        progress({++done, ALL, "calls"});
    };
    for (const char* system : COMPARED_SYSTEMS)
    {
        for (const ComparedPlacement& placement : FILLED)
        {
            compare(system, placement, CompareAll);
        }
        compare(system, CONCURRENT_PAIRS, ComparePairs);
    }
    for (const char* system : BACK_TO_BACK_SYSTEMS)
    {
        for (const ComparedPlacement& placement : BACK_TO_BACK)
        {
            compare(system, placement, CompareBackToBack);
        }
    }
    uint64_t seed = 1;
    for (const char* system : SAMPLED_SYSTEMS)
    {
        for (const ComparedPlacement& placement : SAMPLED)
        {
            compare(system, placement, [&](Comparison& each) { CompareSampled(each, seed++); });
        }
    }
    return cases;
}

std::vector<CaseOutcome>
CompareOnFabrics(const Catalog& catalog, const ShowSuite& progress)
{
    constexpr uint32_t NODES = 16;
    constexpr const char* ROUTINGS[] = {"ecmp", "valiant", "adaptive", "flowlet", "spray"};
    const ClusterSpec base = SystemOf("alps-gh200", NODES, catalog); // its nodes, on other fabrics
    const RoutingPolicyRegistry policies = RoutingPolicies();
    std::vector<CaseOutcome> cases;
    const auto fabrics = ComparedFabrics();
    std::size_t done = 0;
    for (const NamedFabric& fabric : fabrics)
    {
        for (const char* routing : ROUTINGS)
        {
            progress({done++, fabrics.size() * std::size(ROUTINGS), "fabrics and routing"});
            if (!fabric.kind->CanRoute(**policies.Find(routing)))
            {
                continue;
            }
            ClusterSpec cluster;
            cluster.nodes = NODES;
            cluster.node = base.node;
            cluster.node.transport =
                NetTransport::Infiniband; // no per-message overhead: links are the bottleneck
            cluster.fabric.kind = fabric.kind;
            cluster.fabric.link = base.fabric.link;
            cluster.fabric.routing = *policies.Find(routing);
            CompareOn(cluster, fabric.name, routing, cases);
        }
    }
    return cases;
}

} // namespace weir
