// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "compute-model/kernels/tensor-clock.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

/** One direction of attention, relative to the forward pass. */
struct Direction
{
    const AttentionPass& figures;
    double gemms;              //!< number of GEMMs over the forward pass's two
    double operands;           //!< operands read and written over the forward pass's
    bool tilesOverKeys{false}; //!< a tile holds key rows and loops over queries, not the reverse
};

/**
 * One attention call on one GPU in one direction, over s queries and s keys and values, or another
 * number of keys.
 *
 * A thread block processes a tile of q query rows of one head (Dao 2023, FlashAttention-2, section
 * 3.1) against all key blocks of q columns, or under a causal mask those up to its own. One pair of
 * blocks takes
 *     u = 4 q^2 ((d / e)^2 + w^2)^(1/2) / tensor rate
 * clocks: GEMMs of head dim d (padded) at efficiency e, and a softmax equivalent to w columns that
 * the GEMMs partly hide. With N = ceil(s/q) tiles per head and tile overhead o, the longest tile
 * takes L = N u + o, the mean tile M = (N + 1)/2 u + o if causal, else L. With K key blocks these
 * are
 *     L = K u + o,     M = (K - (N - 1)/2) u + o,
 * since the last queries see all keys. Tiles are assigned to SMs in order. The T = N heads batch
 * tiles form W = ceil(T / SMs) waves. A lone tile reaches the share r of an SM's rate. All tiles
 * take
 *     causal: max(L / r, min(W L, T M / SMs + tail L)),     else: max(L / r, W L).
 * The memory traffic of the operands over the HBM rate, and the floor, are added. The clock follows
 * from the tensor utilization (TensorClock).
 *
 * The backward pass follows the forward pass with tiles of key rows, five GEMMs instead of two (2.5
 * times the FLOPs) and twice the operands.
 */
class AttentionProblem
{
  public:
    AttentionProblem(const Gpu& gpu, const AttentionShape& shape, const Direction& direction)
        : m_gpu(gpu),
          m_figures(direction.figures),
          m_rate(gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(shape.precision)])
    {
        Check(shape);
        const double queries = static_cast<double>(shape.sequence);
        const double keys = static_cast<double>(shape.Keys());
        const double d = static_cast<double>(shape.headDim);
        const double batch = static_cast<double>(shape.batch);
        const double heads = static_cast<double>(shape.heads);
        const double kvHeads = static_cast<double>(shape.kvHeads);
        const double pairs = queries * (shape.causal ? keys - queries / 2 : keys);
        m_flops = 4 * batch * heads * pairs * d * direction.gemms;
        m_bytes = 2 * batch * d * (heads * queries + kvHeads * keys) * BytesOf(shape.precision) *
                  direction.operands;
        SetTiles(shape, direction);
    }

    double Flops() const
    {
        return m_flops;
    }

    double MemoryBytes() const
    {
        return m_bytes;
    }

    /** Clocks per SM of the GEMMs at the full tensor rate. */
    double TensorClocks() const
    {
        return m_flops / (m_rate * m_gpu.sms);
    }

    /**
     * Seconds at @p clock Hz. The tile overhead is counted in clocks at the boost clock, as
     * measured.
     */
    double Seconds(double clock) const
    {
        const double memory =
            m_bytes / (m_gpu.memoryRate.ToBytesPerSecond() * m_figures.memoryEfficiency);
        return m_figures.floor.ToSeconds() + m_clocks / clock + memory;
    }

  private:
    void Check(const AttentionShape& shape) const
    {
        if (shape.batch == 0 || shape.heads == 0 || shape.kvHeads == 0 || shape.sequence == 0 ||
            shape.headDim == 0)
        {
            throw std::invalid_argument(
                "AttentionTime: batch, heads, kvHeads, sequence and headDim must be above zero");
        }
        if (shape.causal && shape.Keys() < shape.sequence)
        {
            throw std::invalid_argument(
                "AttentionTime: a causal mask needs at least as many keys as queries");
        }
        if (!(m_rate > 0))
        {
            throw std::invalid_argument("AttentionTime: GPU '" + m_gpu.name +
                                        "' has no matrix rate for the precision asked for");
        }
    }

    /** Computes the clocks of the busiest SM. */
    void SetTiles(const AttentionShape& shape, const Direction& direction)
    {
        const AttentionCalibration& attention = m_gpu.kernels.attention;
        const double rows = attention.tileRows;
        const double step = attention.headDimStep;
        const double padded = std::ceil(static_cast<double>(shape.headDim) / step) * step;
        const double columns = std::hypot(padded / m_figures.efficiency, m_figures.softmaxColumns);
        const double block = 4 * rows * rows * columns * direction.gemms / m_rate;
        const double overhead = m_figures.tileOverhead.ToSeconds() * m_gpu.boostClockHz;
        const double queryBlocks = std::ceil(static_cast<double>(shape.sequence) / rows);
        const double keyBlocks = std::ceil(static_cast<double>(shape.Keys()) / rows);
        const double perHead = direction.tilesOverKeys ? keyBlocks : queryBlocks;
        const double pastBlocks = direction.tilesOverKeys ? queryBlocks : keyBlocks;
        // Blocks of one head above the diagonal of a causal mask.
        const double masked = queryBlocks * (queryBlocks - 1) / 2;
        const double tiles =
            perHead * static_cast<double>(shape.batch) * static_cast<double>(shape.heads);
        const double longest = pastBlocks * block + overhead;
        const double mean = (pastBlocks - masked / perHead) * block + overhead;
        // Whole waves of tiles, or, where a mask makes tiles unequal, the next tile to each SM that
        // becomes idle.
        const double byWaves = std::ceil(tiles / m_gpu.sms) * longest;
        const double byIdleSms = tiles * mean / m_gpu.sms + m_figures.tail * longest;
        const double assigned = shape.causal ? std::min(byWaves, byIdleSms) : byWaves;
        m_clocks = std::max(longest / m_figures.singleTileRate, assigned);
    }

    const Gpu& m_gpu;
    const AttentionPass& m_figures;
    double m_rate; //!< tensor FLOPs of an SM and clock
    double m_flops{0};
    double m_bytes{0};
    double m_clocks{0}; //!< of the busiest SM
};

/** Whether every feature of a call lies within the measured range of its kind. */
bool
IsMeasured(const MeasuredShapes& measured, const AttentionShape& shape)
{
    if (shape.Keys() != shape.sequence || shape.speed != 1 || shape.heads % shape.kvHeads != 0)
    {
        return false;
    }
    const double sequence = static_cast<double>(shape.sequence);
    const double flops = 4 * static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
                         sequence * sequence * static_cast<double>(shape.headDim);
    return std::any_of(
        measured.attention.begin(), measured.attention.end(), [&](const MeasuredAttention& box) {
            return box.precision == shape.precision && box.isCausal == shape.causal &&
                   box.batch.Contains(shape.batch) && box.heads.Contains(shape.heads) &&
                   box.group.Contains(shape.heads / shape.kvHeads) &&
                   box.sequence.Contains(shape.sequence) && box.headDim.Contains(shape.headDim) &&
                   box.flops.Contains(flops);
        });
}

KernelEstimate
EstimateAttention(const Gpu& gpu,
                  ClockRegime regime,
                  const AttentionShape& shape,
                  const Direction& direction)
{
    const AttentionProblem problem(gpu, shape, direction);
    const auto secondsAt = [&](double clock) { return problem.Seconds(clock) / shape.speed; };
    const double clock = OwnClock(gpu, regime, problem.TensorClocks(), secondsAt);
    const double seconds = secondsAt(clock);
    return {Time::Seconds(seconds),
            Flops(problem.Flops()),
            Bytes::Nearest(problem.MemoryBytes()),
            ProvenanceOf(gpu, IsMeasured(gpu.kernels.measured, shape)),
            {1, 0, 0},
            problem.TensorClocks() / (clock * seconds)};
}

} // namespace

KernelEstimate
KernelTimer::AttentionForward(const AttentionShape& shape) const
{
    return EstimateAttention(*m_gpu, m_regime, shape, {m_gpu->kernels.attention.forward, 1, 1});
}

KernelEstimate
KernelTimer::AttentionBackward(const AttentionShape& shape) const
{
    const AttentionPass& backward = m_gpu->kernels.attention.backward;
    return EstimateAttention(*m_gpu, m_regime, shape, {backward, 2.5, 2, true});
}

} // namespace weir
