// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "compute-model/kernels/tensor-clock.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace weir
{

namespace
{

constexpr double LINE_BYTES = 128;      // a cache line: the unit in which aligned rows move
constexpr uint32_t MMA_ROWS = 64;       // minimum rows of a warp-group's MMA (PTX ISA, wgmma m64)
constexpr double INNER_BYTES = 128;     // inner-dimension step of a tile, in bytes of one row
constexpr uint64_t MIN_SPLIT_STEPS = 4; // minimum steps per part of a split inner dimension
constexpr uint64_t MAX_SPLIT_WAVES = 2; // only shapes that do not fill the GPU are split
constexpr uint32_t SPLITS[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
constexpr uint32_t MAX_SPLITS = 32;        // for matrices
constexpr uint32_t MAX_PIXEL_SPLITS = 128; // for inner dimensions over pixels, which are long
// Time of an fp8 GEMM that moves partial sums out of the tensor cores' short accumulators, over the
// time of one that does not: 1.033 at 8192^3 on an H200 (cuBLAS 13.1, use_fast_accum).
constexpr double FULL_SUMS = 1.033;
constexpr double GATHERED_BYTES = 4; // bytes of a word that is loaded individually

double
PNorm(double a, double b, double p)
{
    const double larger = std::max(a, b);
    const double smaller = std::min(a, b);
    return smaller <= 0 ? larger : larger * std::pow(1 + std::pow(smaller / larger, p), 1 / p);
}

uint64_t
CeilDivide(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/** Bytes of a row of each matrix in memory; fp8 GEMMs write 16 bits. */
struct GemmRows
{
    explicit GemmRows(const GemmShape& shape)
    {
        const uint64_t element = BytesOf(shape.precision);
        a = element * (shape.layout == GemmLayout::Nt ? shape.m : shape.k);
        b = element * (shape.layout == GemmLayout::Tn ? shape.k : shape.n);
        c = ActivationBytes(shape.precision) * shape.n;
    }

    uint64_t a{0};
    uint64_t b{0};
    uint64_t c{0};
};

/** Division of the inner dimension into equal parts. */
struct Split
{
    uint32_t parts{1};
    uint64_t inner{0}; //!< elements of one part
};

/** Cost of one choice of tile and split, before the clock is known. */
struct Cut
{
    GemmTile tile;
    uint32_t splits{1};
    uint64_t waves{0};
    double mainClocks{0};       //!< of one tile's main loop
    double epilogueSeconds{0};  //!< of one tile
    double reductionSeconds{0}; //!< of all partial sums
};

/**
 * One GEMM on one GPU, with everything that does not depend on the tile, in a library that has the
 * GPU's tiles and chooses well among them.
 *
 * For a tile of r x c elements and the inner dimension split into s parts:
 *     W      = ceil(ceil(m/r) ceil(n/c) batch s / SMs)            tiles of the busiest SM
 *     clocks = k/s (tensor^p + load^p)^(1/p),  tensor = 2 max(r,c,64) min(r,c) / (rate e),
 *                                              load = (r + c) bytes / operand rate
 *     t_sm   = W (clocks / f + overhead) + epilogue (1 + (W - 1) exposed)
 *     t_hbm  = operand and output bytes / (HBM rate e_hbm)
 *     t      = floor + (t_sm^p + t_hbm^p)^(1/p) [+ split floor + 4 m n s / (HBM rate e_hbm)]
 * The tile and split with the least t at the boost clock are used; then f follows from the tensor
 * utilization (TensorClock). Rows that are not multiples of 128-byte cache lines multiply the cost
 * of loads and stores by a factor. Rows that are not multiples of 16 bytes run on older kernels
 * with few tiles, whose math waits for loads of single words. With L loads per SM and clock, of the
 * widest words (w bytes) that divide all rows, clocks = k/s (tensor + (r + c) bytes / (L w)).
 * `accumulateFp32` reads and writes C in four bytes, `accumulate` in its own precision. fp8 GEMMs
 * for gradients (Nn, Nt) accumulate in full precision, forward ones in the tensor cores' short
 * accumulators, as in Transformer Engine and torchao.
 */
class GemmProblem
{
  public:
    GemmProblem(const Gpu& gpu, const GemmShape& shape)
        : m_gpu(gpu),
          m_figures(gpu.kernels.gemm),
          m_family(FamilyOf(gpu.kernels.gemm, shape)),
          m_shape(shape),
          m_element(BytesOf(shape.precision)),
          m_output(ActivationBytes(shape.precision))
    {
        Check();
        SetAlignment();
        SetSplits();
        const double m = static_cast<double>(shape.m);
        const double n = static_cast<double>(shape.n);
        const double k = static_cast<double>(shape.k);
        const double batch = static_cast<double>(shape.batch);
        const double stored = shape.accumulateFp32 ? 2.0 * FP32_BYTES
                              : shape.accumulate   ? 2.0 * m_output
                                                   : m_output;
        m_storedBytes = stored * m_storeFactor;
        m_flops = 2 * m * n * k * batch;
        m_bytes = batch * ((m * k + n * k) * m_element + m * n * stored);
        m_hbmRate = gpu.memoryRate.ToBytesPerSecond() * m_figures.memoryEfficiency;
        m_hbmSeconds =
            batch *
            ((m * k * m_loadFactorA + n * k * m_loadFactorB) * m_element + m * n * m_storedBytes) /
            m_hbmRate;
        if (OverImages())
        {
            m_bytes = shape.images.elements * m_element + batch * m * n * (stored - m_output);
            m_hbmSeconds = m_bytes / m_hbmRate;
        }
    }

    /** FLOPs without multiplications by zeros between strides. */
    double Flops() const
    {
        return m_flops * m_shape.images.useful;
    }

    double MemoryBytes() const
    {
        return m_bytes;
    }

    /** Clocks per SM of the math at the full tensor rate. */
    double TensorClocks() const
    {
        return m_flops / (TensorRate() * m_gpu.sms);
    }

    double Seconds(const Cut& cut, double clock) const
    {
        const double waves = static_cast<double>(cut.waves);
        const double busiest =
            waves * (cut.mainClocks / clock + m_family.tileOverhead.ToSeconds()) +
            cut.epilogueSeconds *
                (1 +
                 (waves - 1) * (m_isWordAligned ? m_figures.ExposedEpilogue(m_family.grid) : 1));
        return m_figures.floor.ToSeconds() + PNorm(busiest, m_hbmSeconds, m_figures.sharpness) +
               cut.reductionSeconds;
    }

    /**
     * Effect of communication that occupies SMs. The tiles of these SMs wait for other tiles to
     * end: a kernel of one wave takes another wave, a kernel of several waves `displacedWaves`
     * more. Kernels that are not persistent take none.
     */
    OverlapTraits Overlap(const Cut& cut, double seconds) const
    {
        OverlapTraits traits;
        traits.smShare = 1;
        const double waves = m_isWordAligned ? m_figures.DisplacedWaves(m_family.grid) : 0;
        const double share = waves / static_cast<double>(cut.waves);
        traits.displaced = static_cast<float>(std::min(1.0, share));
        traits.memoryShare = static_cast<float>(std::min(1.0, m_hbmSeconds / seconds));
        return traits;
    }

    /** Tile and split with the shortest time at the boost clock; the first of equals. */
    Cut Cheapest() const
    {
        Cut best;
        double min = std::numeric_limits<double>::infinity();
        for (const GemmTile& tile : m_isWordAligned ? m_family.tiles : m_figures.unalignedTiles)
        {
            const uint64_t tiles = CeilDivide(m_shape.m, tile.rows) *
                                   CeilDivide(m_shape.n, tile.columns) * m_shape.batch;
            for (const Split& split : m_splits)
            {
                const uint64_t waves = CeilDivide(tiles * split.parts, m_gpu.sms);
                if (split.parts > 1 && waves > MAX_SPLIT_WAVES)
                {
                    break;
                }
                if (MathSeconds(tile, split, waves) >= min)
                {
                    continue;
                }
                const Cut cut = MakeCut(tile, split, waves);
                const double seconds = Seconds(cut, m_gpu.boostClockHz);
                if (seconds < min)
                {
                    min = seconds;
                    best = cut;
                }
            }
        }
        return best;
    }

  private:
    static GemmFamily FamilyOf(const GemmCalibration& figures, const GemmShape& shape)
    {
        if (shape.precision == Precision::Fp32)
        {
            return figures.fp32.value_or(figures.Narrow());
        }
        if (shape.images.kind != GemmOperands::Matrices)
        {
            return figures.convolution.value_or(figures.Narrow());
        }
        return shape.precision == Precision::Tf32 ? figures.tf32.value_or(figures.Narrow())
                                                  : figures.Narrow();
    }

    bool OverImages() const
    {
        return m_shape.images.kind != GemmOperands::Matrices;
    }

    /**
     * Whether operands are loaded word by word. Neither ldmatrix nor wgmma transposes 32-bit
     * operands (PTX ISA: .trans and the major modes are for 16-bit types), as an inner dimension
     * over pixels requires.
     */
    bool GathersWords() const
    {
        return m_shape.images.kind == GemmOperands::Gradients &&
               m_shape.precision == Precision::Tf32 && m_figures.gatheredLoadsPerSmPerClock > 0;
    }

    void Check() const
    {
        if (m_shape.m == 0 || m_shape.n == 0 || m_shape.k == 0 || m_shape.batch == 0)
        {
            throw std::invalid_argument("GemmTime: m, n, k and batch must be above zero");
        }
        if (!(TensorRate() > 0))
        {
            throw std::invalid_argument("GemmTime: GPU '" + m_gpu.name +
                                        "' has no matrix rate for the precision asked for");
        }
    }

    /** Sets the alignment factors from the lengths of contiguous rows; C is stored by rows of n. */
    void SetAlignment()
    {
        const auto isWhole = [](double row, double unit) { return std::fmod(row, unit) == 0; };
        if (OverImages())
        {
            // In an image the next row follows a row directly: cache lines are shared, not wasted.
            const double row = m_element * static_cast<double>(m_shape.images.contiguous);
            while (!isWhole(row, m_word))
            {
                m_word /= 2;
            }
            m_isWordAligned = m_word == WORD_BYTES || m_shape.precision == Precision::Fp32;
            return;
        }
        const GemmRows rows(m_shape);
        const auto rowA = static_cast<double>(rows.a);
        const auto rowB = static_cast<double>(rows.b);
        const auto rowC = static_cast<double>(rows.c);
        m_loadFactorA = isWhole(rowA, LINE_BYTES) ? 1 : m_figures.misalignedOperand;
        m_loadFactorB = isWhole(rowB, LINE_BYTES) ? 1 : m_figures.misalignedOperand;
        m_storeFactor = isWhole(rowC, LINE_BYTES) ? 1 : m_figures.misalignedOutput;
        while (!(isWhole(rowA, m_word) && isWhole(rowB, m_word) && isWhole(rowC, m_word)))
        {
            m_word /= 2;
        }
        // Kernels of plain multiply-adds load words of at most four bytes.
        m_isWordAligned = m_word == WORD_BYTES || m_shape.precision == Precision::Fp32;
    }

    /** Datasheet FLOPs per SM and clock. */
    double TensorRate() const
    {
        return m_gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(m_shape.precision)];
    }

    /** FLOPs per SM and clock that the main loop achieves. */
    double LoopRate() const
    {
        const double rate =
            TensorRate() * m_figures.tensorEfficiency[static_cast<std::size_t>(m_shape.precision)];
        return m_shape.precision == Precision::Fp8 && m_shape.layout != GemmLayout::Tn
                   ? rate / FULL_SUMS
                   : rate;
    }

    /** Sets the splits that give every part enough work. */
    void SetSplits()
    {
        const uint64_t step = static_cast<uint64_t>(INNER_BYTES) / m_element;
        const uint64_t steps = CeilDivide(m_shape.k, step);
        const uint32_t max =
            m_shape.images.kind == GemmOperands::Gradients ? MAX_PIXEL_SPLITS : MAX_SPLITS;
        for (const uint32_t parts : SPLITS)
        {
            if (parts > max)
            {
                break;
            }
            const uint64_t each = CeilDivide(steps, parts);
            const bool isUseful = each >= MIN_SPLIT_STEPS && (parts - 1) * each < steps;
            if (parts == 1 || isUseful)
            {
                m_splits.push_back({parts, each * step});
            }
        }
    }

    /** Math clocks of one tile per element of the inner dimension. */
    double MathClocks(const GemmTile& tile) const
    {
        const double longer = std::max({tile.rows, tile.columns, MMA_ROWS});
        const double shorter = std::min(tile.rows, tile.columns);
        return 2 * longer * shorter / LoopRate();
    }

    /** Clocks of the main loop of one tile per element of the inner dimension. */
    double LoopClocks(const GemmTile& tile) const
    {
        if (!m_isWordAligned)
        {
            return MathClocks(tile) + (tile.rows + tile.columns) * m_element /
                                          (m_figures.unalignedLoadsPerSmPerClock * m_word);
        }
        const double bytesPerClock = GathersWords()
                                         ? m_figures.gatheredLoadsPerSmPerClock * GATHERED_BYTES
                                         : m_figures.operandBytesPerSmPerClock;
        const double load =
            (tile.rows * m_loadFactorA + tile.columns * m_loadFactorB) * m_element / bytesPerClock;
        return PNorm(MathClocks(tile), load, m_figures.sharpness);
    }

    /**
     * Time of the math without loads, at the boost clock: a lower bound of Seconds that needs no
     * powers.
     */
    double MathSeconds(const GemmTile& tile, const Split& split, uint64_t waves) const
    {
        return static_cast<double>(waves * split.inner) * MathClocks(tile) / m_gpu.boostClockHz;
    }

    Cut MakeCut(const GemmTile& tile, const Split& split, uint64_t waves) const
    {
        Cut cut;
        cut.tile = tile;
        cut.splits = split.parts;
        cut.waves = waves;
        cut.mainClocks = LoopClocks(tile) * static_cast<double>(split.inner);
        cut.epilogueSeconds = static_cast<double>(tile.rows) * tile.columns * m_storedBytes /
                              (m_figures.epilogueBytesPerSmPerClock * m_gpu.boostClockHz);
        if (split.parts > 1)
        {
            const double partial = static_cast<double>(m_shape.m) *
                                   static_cast<double>(m_shape.n * m_shape.batch) * split.parts *
                                   FP32_BYTES;
            cut.reductionSeconds = m_figures.splitFloor.ToSeconds() + partial / m_hbmRate;
        }
        return cut;
    }

    const Gpu& m_gpu;
    const GemmCalibration& m_figures;
    GemmFamily m_family;
    const GemmShape& m_shape;
    uint32_t m_element;      //!< bytes of an element of A and B
    uint32_t m_output;       //!< bytes of an element of C
    double m_storedBytes{0}; //!< of an element of C, alignment factor included
    double m_loadFactorA{1};
    double m_loadFactorB{1};
    double m_storeFactor{1};
    uint32_t m_word{WORD_BYTES}; //!< widest word, in bytes, that divides all rows
    bool m_isWordAligned{true};  //!< the fast kernels apply
    std::vector<Split> m_splits; //!< by growing number of parts
    double m_flops{0};
    double m_bytes{0};
    double m_hbmRate{0}; //!< bytes per second
    double m_hbmSeconds{0};
};

/** Whether all rows of a GEMM's matrices are multiples of WORD_BYTES. */
bool
IsWordAligned(const GemmShape& shape)
{
    const GemmRows rows(shape);
    return rows.a % WORD_BYTES == 0 && rows.b % WORD_BYTES == 0 && rows.c % WORD_BYTES == 0;
}

/**
 * Whether every feature of a GEMM lies within the measured range of its kind. False for GEMMs over
 * images and for accumulating GEMMs, which were not measured separately.
 */
bool
IsMeasured(const MeasuredShapes& measured, const GemmShape& shape, double flops)
{
    if (shape.images.kind != GemmOperands::Matrices || shape.accumulateFp32 || shape.accumulate)
    {
        return false;
    }
    const bool isAligned = IsWordAligned(shape);
    return std::any_of(measured.gemms.begin(), measured.gemms.end(), [&](const MeasuredGemms& box) {
        return box.precision == shape.precision && box.layout == shape.layout &&
               box.isWordAligned == isAligned && box.m.Contains(shape.m) &&
               box.n.Contains(shape.n) && box.k.Contains(shape.k) &&
               box.batch.Contains(shape.batch) && box.flops.Contains(flops);
    });
}

} // namespace

KernelEstimate
KernelTimer::Gemm(const GemmShape& shape) const
{
    const GemmProblem problem(*m_gpu, shape);
    const Cut cut = problem.Cheapest();
    const auto secondsAt = [&](double clock) { return problem.Seconds(cut, clock); };
    const double clock = OwnClock(*m_gpu, m_regime, problem.TensorClocks(), secondsAt);
    const double seconds = secondsAt(clock);
    return {Time::Seconds(seconds),
            Flops(problem.Flops()),
            Bytes::Nearest(problem.MemoryBytes()),
            ProvenanceOf(*m_gpu, IsMeasured(m_gpu->kernels.measured, shape, problem.Flops())),
            problem.Overlap(cut, seconds),
            problem.TensorClocks() / (clock * seconds)};
}

GemmPlan
PlanGemm(const Gpu& gpu, ClockRegime regime, const GemmShape& shape)
{
    const GemmProblem problem(gpu, shape);
    const Cut cut = problem.Cheapest();
    GemmPlan plan;
    plan.tile = cut.tile;
    plan.splits = cut.splits;
    plan.waves = cut.waves;
    const auto secondsAt = [&](double clock) { return problem.Seconds(cut, clock); };
    plan.clockHz = OwnClock(gpu, regime, problem.TensorClocks(), secondsAt);
    return plan;
}

} // namespace weir
