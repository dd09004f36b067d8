// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/dimension-wise/dimension-phases.h"

#include "collectives/channels/connection.h"
#include "collectives/schedule/message-split.h"
#include "fabric/kinds/fabric-kind.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr const char* NAMES[] = {"ring", "direct", "halving-doubling"}; //!< by DimensionAlgorithm

bool
IsPowerOfTwo(uint32_t value)
{
    return PowerOfTwoUp(value) == value;
}

/** Logarithm of the binomial coefficient of n over k; minus infinity if k > n. */
double
LogBinomial(double n, double k)
{
    return k > n ? -std::numeric_limits<double>::infinity()
                 : std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/** The phases of one chunk of a dispatch. */
std::vector<DimensionPhase>
DispatchPhasesOf(const DimensionGrid& grid, uint32_t chunk, const ExpertDispatch& dispatch)
{
    std::vector<DimensionPhase> phases;
    const auto points = static_cast<double>(grid.rankAt.size());
    for (uint32_t d = static_cast<uint32_t>(grid.dimensions.size()); d-- > 0;)
    {
        const auto& [size, stride, kind] = grid.dimensions[d];
        const double senders = points / stride / size; // ranks whose tokens a rank holds
        const double toPeer = senders * dispatch.CopiesTo(stride / points);
        phases.push_back({PhaseKind::Exchange, d, chunk, 1 / (toPeer * size)});
    }
    return phases;
}

constexpr double INDEX = 1; //!< bytes of an element's index over bytes of the element: 4 of 4

/**
 * The phases of one chunk of a sparse all-reduce; those between the first and the last gather
 * selected elements.
 */
std::vector<DimensionPhase>
SparsePhasesOf(const DimensionGrid& grid, uint32_t chunk, const Sparsity& sparsity)
{
    std::vector<DimensionPhase> phases{{PhaseKind::Reduce, 0, chunk, 1}};
    double shrunk = grid.dimensions[0].size / (sparsity.density * (1 + INDEX));
    for (uint32_t d = 1; d < grid.dimensions.size(); ++d)
    {
        shrunk /= grid.dimensions[d].size;
        phases.push_back({PhaseKind::Gather, d, chunk, shrunk});
    }
    phases.push_back({PhaseKind::Gather, 0, chunk, 1});
    return phases;
}

/** The phases of one chunk that crosses the dimensions in @p order. */
std::vector<DimensionPhase>
PhasesOf(CollectiveOp op,
         const DimensionGrid& grid,
         uint32_t chunk,
         const std::vector<uint32_t>& order,
         const DimensionWiseSettings& settings)
{
    if (settings.sparsity && op == CollectiveOp::AllReduce)
    {
        return SparsePhasesOf(grid, chunk, *settings.sparsity);
    }
    if (settings.dispatch && op == CollectiveOp::AllToAll)
    {
        return DispatchPhasesOf(grid, chunk, *settings.dispatch);
    }
    const bool exchanges = op == CollectiveOp::AllToAll;
    std::vector<DimensionPhase> phases;
    double shrunk = 1;
    for (const uint32_t d : order)
    {
        phases.push_back({exchanges ? PhaseKind::Exchange : PhaseKind::Reduce, d, chunk, shrunk});
        shrunk *= exchanges ? 1 : grid.dimensions[d].size;
    }
    if (exchanges)
    {
        return phases;
    }
    std::vector<DimensionPhase> back(phases.rbegin(), phases.rend());
    for (DimensionPhase& each : back)
    {
        each.kind = PhaseKind::Gather;
    }
    if (op == CollectiveOp::AllGather)
    {
        return back;
    }
    if (op == CollectiveOp::AllReduce)
    {
        phases.insert(phases.end(), back.begin(), back.end());
    }
    return phases;
}

/** By chunk: the order in which it crosses the dimensions. */
std::vector<std::vector<uint32_t>>
OrdersOf(CollectiveOp op,
         const DimensionGrid& grid,
         const DimensionWiseSettings& settings,
         const PhaseCosts& costs)
{
    std::vector<uint32_t> order(grid.dimensions.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::vector<uint32_t>> orders;
    std::vector<Time> loads(order.size());
    for (uint32_t chunk = 0; chunk < settings.chunks; ++chunk)
    {
        if (settings.balanced)
        {
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
                return loads[a] < loads[b];
            });
            for (const DimensionPhase& phase : PhasesOf(op, grid, chunk, order, settings))
            {
                loads[phase.dimension] += costs.time(phase);
            }
        }
        orders.push_back(order);
    }
    return orders;
}

uint64_t
PointsOf(const std::vector<FabricDimension>& dimensions)
{
    uint64_t points = 1;
    for (const FabricDimension& each : dimensions)
    {
        points *= each.size;
    }
    return points;
}

FabricDimension
SwitchOf(uint32_t size)
{
    FabricDimension dimension;
    dimension.kind = DimensionKind::Switch;
    dimension.size = size;
    return dimension;
}

} // namespace

uint32_t
DimensionGrid::Next(uint32_t point, uint32_t dimension, uint32_t steps) const
{
    const auto& [size, stride, kind] = dimensions[dimension];
    const uint32_t digit = DigitOf(point, dimension);
    return point - digit * stride + (digit + steps) % size * stride;
}

DimensionGrid
GridOf(const Communicator& communicator,
       const Cluster& cluster,
       const DimensionWiseSettings& settings)
{
    const uint32_t ranks = communicator.Size();
    if (ranks != communicator.nodes * communicator.gpusPerNode)
    {
        throw std::invalid_argument("found dimension-wise over " + std::to_string(ranks) +
                                    " GPUs of " + std::to_string(communicator.nodes) +
                                    " nodes, expected the same number on each node");
    }
    const auto& kind = cluster.GetSpec().fabric.kind;
    std::vector<FabricDimension> shape = kind->GridDimensions();
    const bool isWhole = ranks == cluster.GpuCount() && !shape.empty();
    if (isWhole && PointsOf(shape) * communicator.gpusPerNode == ranks)
    {
        shape.insert(shape.begin(), SwitchOf(communicator.gpusPerNode));
    }
    if (!isWhole || PointsOf(shape) != ranks)
    {
        shape = {SwitchOf(communicator.gpusPerNode), SwitchOf(communicator.nodes)};
    }
    if (settings.dispatch && settings.dispatch->isDirect)
    {
        shape = {SwitchOf(ranks)};
    }
    DimensionGrid grid;
    uint32_t stride = 1;
    for (const FabricDimension& each : shape)
    {
        if (each.size > 1)
        {
            grid.dimensions.push_back({each.size, stride, each.kind});
            stride *= each.size;
        }
    }
    for (const NodeRanks& node : RanksByNode(communicator, cluster))
    {
        grid.rankAt.insert(grid.rankAt.end(), node.ranks.begin(), node.ranks.end());
    }
    return grid;
}

double
ExpertDispatch::ProbabilityOf(double share) const
{
    const double inGroup = static_cast<double>(experts) / groups;
    const double here = experts * share;
    const double groupsHere = std::max(1.0, std::round(here / inGroup));
    const double ofEach = std::min(here, inGroup);
    const double eligible = groupsOfToken * inGroup;
    double probability = 0;
    for (uint32_t hit = 1; hit <= groupsOfToken; ++hit)
    {
        // As logarithms: a binomial coefficient of a million experts exceeds a double.
        const double chosen = std::exp(LogBinomial(groupsHere, hit) +
                                       LogBinomial(groups - groupsHere, groupsOfToken - hit) -
                                       LogBinomial(groups, groupsOfToken));
        const double none = std::exp(LogBinomial(eligible - hit * ofEach, expertsOfToken) -
                                     LogBinomial(eligible, expertsOfToken));
        probability += chosen * (1 - none);
    }
    return probability;
}

const char*
ToString(DimensionAlgorithm algorithm)
{
    return NAMES[static_cast<std::size_t>(algorithm)];
}

std::vector<uint32_t>
PeersOf(DimensionAlgorithm algorithm, uint32_t size)
{
    std::vector<uint32_t> peers;
    switch (algorithm)
    {
    case DimensionAlgorithm::Ring:
        return {1};
    case DimensionAlgorithm::Direct:
        peers.resize(size - 1);
        std::iota(peers.begin(), peers.end(), 1);
        return peers;
    case DimensionAlgorithm::HalvingDoubling:
        break;
    }
    for (uint32_t bit = size / 2; bit > 0; bit /= 2)
    {
        peers.push_back(bit);
    }
    return peers;
}

std::vector<PhaseStep>
StepsOf(const DimensionPhase& phase, DimensionAlgorithm algorithm, uint32_t size)
{
    const double part = phase.shrunk * size;
    std::vector<PhaseStep> steps;
    switch (algorithm)
    {
    case DimensionAlgorithm::Ring:
        steps.assign(size - 1, {part, 0, 1});
        return steps;
    case DimensionAlgorithm::Direct:
        return {{part, 0, size - 1}};
    case DimensionAlgorithm::HalvingDoubling:
        break;
    }
    double divisor = phase.shrunk;
    for (uint32_t peer = 0; peer < PeersOf(algorithm, size).size(); ++peer)
    {
        divisor *= phase.kind == PhaseKind::Exchange && peer > 0 ? 1 : 2;
        steps.push_back({divisor, peer, 1});
    }
    if (phase.kind == PhaseKind::Gather)
    {
        std::reverse(steps.begin(), steps.end());
    }
    return steps;
}

DimensionAlgorithm
AlgorithmAlong(const DimensionGrid& grid,
               uint32_t dimension,
               const DimensionWiseSettings& settings,
               CollectiveOp op)
{
    const auto& [size, stride, kind] = grid.dimensions[dimension];
    DimensionAlgorithm algorithm = kind == DimensionKind::Ring ? DimensionAlgorithm::Ring
                                   : kind == DimensionKind::Switch && IsPowerOfTwo(size)
                                       ? DimensionAlgorithm::HalvingDoubling
                                       : DimensionAlgorithm::Direct;
    if (op == CollectiveOp::AllToAll)
    {
        algorithm = DimensionAlgorithm::Direct;
    }
    if (!settings.algorithms.empty())
    {
        algorithm =
            settings.algorithms[std::min<std::size_t>(dimension, settings.algorithms.size() - 1)];
    }
    if (algorithm == DimensionAlgorithm::HalvingDoubling && !IsPowerOfTwo(size))
    {
        throw std::invalid_argument("found halving-doubling along a dimension of " +
                                    std::to_string(size) + ", expected a power of two");
    }
    if (algorithm == DimensionAlgorithm::Ring && op == CollectiveOp::AllToAll)
    {
        throw std::invalid_argument(
            "found all-to-all by ring along a dimension, expected direct or halving-doubling");
    }
    return algorithm;
}

namespace
{

/** An event-driven run of chunks through dimensions. */
class PhaseRun
{
  public:
    PhaseRun(std::vector<std::vector<DimensionPhase>> chains,
             std::size_t dimensions,
             const PhaseCosts& costs)
        : m_costs(costs),
          m_running(dimensions)
    {
        for (auto& phases : chains)
        {
            m_chains.push_back({std::move(phases), 0, 0});
        }
    }

    /** To be called once. */
    PhasePlan Run()
    {
        for (StartAll(); Advance(); StartAll())
        {
        }
        m_plan.end = Time::Seconds(m_now);
        return std::move(m_plan);
    }

  private:
    /** The state of a chunk. */
    struct Chain
    {
        std::vector<DimensionPhase> phases;
        std::size_t next;
        double ready; //!< seconds; infinite while one of its phases runs
    };

    /** The state of a dimension. */
    struct Running
    {
        Chain* chain{nullptr}; //!< null: the dimension is free
        double left{0};        //!< uncontended seconds left
        double busy{0};
    };

    static constexpr double NEVER = std::numeric_limits<double>::infinity();

    void StartAll()
    {
        for (uint32_t d = 0; d < m_running.size(); ++d)
        {
            Chain* first = nullptr;
            for (Chain& chain : m_chains)
            {
                if (chain.next < chain.phases.size() && chain.ready <= m_now &&
                    chain.phases[chain.next].dimension == d &&
                    (!first || chain.ready < first->ready))
                {
                    first = &chain;
                }
            }
            if (first && !m_running[d].chain)
            {
                Start(*first, d);
            }
        }
    }

    void Start(Chain& chain, uint32_t dimension)
    {
        const std::size_t at = chain.next++;
        const DimensionPhase& phase = chain.phases[at];
        m_running[dimension] = {&chain, m_costs.time(phase).ToSeconds(), m_costs.busy(phase)};
        chain.ready = NEVER;
        m_plan.phases.push_back(
            {phase,
             at > 0 ? chain.phases[at - 1].dimension : PhasePlan::NONE,
             at + 1 < chain.phases.size() ? chain.phases[at + 1].dimension : PhasePlan::NONE});
    }

    /** Factor by which contention slows the phase in a dimension. */
    double SlowdownOf(uint32_t dimension) const
    {
        double load = 0;
        for (uint32_t other = 0; other < m_running.size(); ++other)
        {
            const bool meets = m_costs.groups[other] == m_costs.groups[dimension];
            load += meets && m_running[other].chain ? m_running[other].busy : 0;
        }
        return std::max(1.0, load);
    }

    /** Advances to the next event. @return whether there is one. */
    bool Advance()
    {
        double step = NEVER;
        for (const Chain& chain : m_chains)
        {
            step = chain.next < chain.phases.size() && chain.ready > m_now
                       ? std::min(step, chain.ready - m_now)
                       : step;
        }
        std::vector<double> slowdowns;
        for (uint32_t d = 0; d < m_running.size(); ++d)
        {
            slowdowns.push_back(SlowdownOf(d));
            step = m_running[d].chain ? std::min(step, m_running[d].left * slowdowns[d]) : step;
        }
        if (step == NEVER)
        {
            return false;
        }
        constexpr double ROUNDING = 1e-15; // seconds
        m_now += step;
        for (uint32_t d = 0; d < m_running.size(); ++d)
        {
            Running& running = m_running[d];
            running.left -= step / slowdowns[d];
            if (running.chain && running.left <= ROUNDING)
            {
                Chain& chain = *running.chain;
                const bool selects = chain.phases[chain.next - 1].kind == PhaseKind::Reduce;
                chain.ready = selects ? Select() : m_now;
                running.chain = nullptr;
            }
        }
        return true;
    }

    /**
     * A GPU selects the elements of a chunk to send on, one chunk after the other. @return the end
     * of the selection in seconds.
     */
    double Select()
    {
        m_selected = std::max(m_selected, m_now) + m_costs.selection.ToSeconds();
        return m_selected;
    }

    const PhaseCosts& m_costs;
    std::vector<Chain> m_chains;
    std::vector<Running> m_running; //!< by dimension
    double m_now{0};                //!< seconds
    double m_selected{0};           //!< end of the last selection (seconds)
    PhasePlan m_plan;
};

} // namespace

PhasePlan
PlanPhases(CollectiveOp op,
           const DimensionGrid& grid,
           const DimensionWiseSettings& settings,
           const PhaseCosts& costs)
{
    std::vector<std::vector<DimensionPhase>> chains;
    for (const auto& order : OrdersOf(op, grid, settings, costs))
    {
        chains.push_back(PhasesOf(op, grid, static_cast<uint32_t>(chains.size()), order, settings));
    }
    return PhaseRun(std::move(chains), grid.dimensions.size(), costs).Run();
}

} // namespace weir
