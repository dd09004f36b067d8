// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_KERNEL_TIME_H
#define WEIR_COMPUTE_MODEL_KERNELS_KERNEL_TIME_H

#include "compute-model/kernels/gpu.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/** Sensitivity of a kernel to overlapping communication; of several kernels, the mean over time. */
struct OverlapTraits
{
    float smShare{
        0}; //!< share of its time in thread blocks that leave no room for another on their SM
    float displaced{0};   //!< relative additional time of the tiles whose SMs are occupied
    float memoryShare{0}; //!< share of its time that concurrent memory traffic lengthens
};

/** Origin of a kernel's time. */
enum class EstimateProvenance : uint8_t
{
    Measured,     //!< within the shapes measured on this GPU
    Extrapolated, //!< this GPU's measurements, outside their shapes
    Carried,      //!< another GPU's measurements, carried over by SMs, clocks and bandwidth
    Roofline      //!< datasheet only
};

/**
 * Carried if the figures are another GPU's; else Measured inside, Extrapolated outside the measured
 * shapes.
 */
inline EstimateProvenance
ProvenanceOf(const Gpu& gpu, bool isInsideMeasured)
{
    if (gpu.kernels.measuredOn != gpu.name)
    {
        return EstimateProvenance::Carried;
    }
    return isInsideMeasured ? EstimateProvenance::Measured : EstimateProvenance::Extrapolated;
}

struct KernelEstimate
{
    Time time;
    Flops flops;
    Bytes bytes; //!< memory traffic, each operand once
    EstimateProvenance provenance{EstimateProvenance::Roofline};
    OverlapTraits overlap;
    double tensorBusy{0}; //!< share of its clocks that keep the tensor cores busy, [0, 1]
};

/** Clock regime of a GPU: short bursts run faster than a step that heats the chip. */
enum class ClockRegime : uint8_t
{
    Burst,
    Sustained
};

/** Operands of a GEMM. */
enum class GemmOperands : uint8_t
{
    Matrices,
    Images,   //!< windows over images (a convolution or its input gradient)
    Gradients //!< a convolution's outputs and windows: the inner dimension runs over pixels
};

/**
 * Operands of a GEMM over images. Windows share pixels, so that it reads less than m k + k n
 * elements.
 */
struct ImageOperands
{
    GemmOperands kind{GemmOperands::Matrices};
    double elements{0};     //!< read and written, each counted once, of the whole batch
    uint64_t contiguous{0}; //!< contiguous elements in all operands: channels, or pixels
    double useful{1}; //!< share of the multiplications whose operands are not zeros between strides
};

struct GemmShape
{
    uint64_t m{0};
    uint64_t n{0};
    uint64_t k{0};
    uint64_t batch{1};
    Precision precision{Precision::Bf16};
    GemmLayout layout{GemmLayout::Tn};
    bool accumulateFp32{false}; //!< output added into an fp32 buffer (gradient accumulation fusion)
    bool accumulate{false};     //!< output added to the existing values, in its own precision
    ImageOperands images{};
};

struct AttentionShape
{
    uint64_t batch{1};
    uint64_t heads{0};
    uint64_t kvHeads{0};
    uint64_t sequence{0};    //!< queries
    uint64_t keySequence{0}; //!< keys and values; 0: as many as queries
    uint64_t headDim{0};
    bool causal{true}; //!< with more keys than queries, the last queries see all keys

    uint64_t Keys() const
    {
        return keySequence == 0 ? sequence : keySequence;
    }

    Precision precision{Precision::Bf16};
    double speed{
        1}; //!< speed of the kernel in use relative to the calibrated one, at the same clock
};

/** Memory-bound kernels; each has its own measured efficiency. */
enum class MemoryKernel : uint8_t
{
    LayerNormForward,
    LayerNormBackward,
    RmsNormForward,
    RmsNormBackward,
    SoftmaxForward, //!< scale, mask and softmax fused
    SoftmaxBackward,
    Dropout,  //!< forward or backward
    BiasGelu, //!< forward or backward, fused
    SwiGlu,
    BiasDropoutAdd, //!< fused residual
    Elementwise,    //!< plain add, scale, cast, copy
    Rotary,
    EmbeddingForward,
    EmbeddingBackward,
    CrossEntropyForward,
    CrossEntropyBackward,
    AdamFused, //!< optimizer update, fp32 state
    GradientNorm,
    Fill,
    Reduction, //!< read-only: sum or maximum
    CastToFp32 //!< 16 bits to 32; the reverse is Elementwise
};

constexpr std::size_t MEMORY_KERNEL_COUNT = 21;

const char* ToString(MemoryKernel kernel);

/** Times of single kernels on one GPU in one clock regime. Values only; cheap to copy. */
class KernelTimer
{
  public:
    explicit KernelTimer(const Gpu& gpu, ClockRegime regime = ClockRegime::Sustained);

    /**
     * Time of one GEMM C[m,n] = A[m,k] B[k,n], by GemmProblem (gemm-time.cc).
     * @throws std::invalid_argument when a dimension is zero or the GPU has no matrix rate for the
     *         precision.
     * Complexity: tiles times splits, about a hundred evaluations at most.
     */
    KernelEstimate Gemm(const GemmShape& shape) const;

    /**
     * Time of one fused attention forward pass, by AttentionProblem (attention-time.cc). FLOPs are
     * the useful ones: 4 b h s^2 d, half of it if causal. Fewer kvHeads than heads reduce only the
     * traffic.
     * @throws std::invalid_argument when a dimension is zero, a causal mask has fewer keys than
     *         queries, or the GPU has no matrix rate for the precision.
     */
    KernelEstimate AttentionForward(const AttentionShape& shape) const;

    /** The same for one backward pass, its helper kernels included. */
    KernelEstimate AttentionBackward(const AttentionShape& shape) const;

    /**
     * Time of one kernel that moves @p bytes (each operand once) and computes little:
     *     t = floor + (stream^2 + latency^2)^(1/2)
     *     stream  = bytes / min(HBM rate e, SMs f b(row))
     *     latency = that of one thread block, plus a part per KiB of a row
     * Memory limits most kernels. Random numbers, conversions and passes over a row limit some by
     * instructions, to b bytes per SM and clock; this limit scales with SMs and clock. Between two
     * measured row lengths log b is linear in the log of the row length; beyond them it is
     * constant. Such kernels run at the boost clock in both regimes (measured on an H200).
     * @param rowBytes bytes of one row for row-wise kernels (norms, softmax); 0 for others
     * @throws std::invalid_argument when @p bytes or @p rowBytes is negative.
     */
    KernelEstimate Memory(MemoryKernel kernel, Bytes bytes, Bytes rowBytes = Bytes()) const;

    /** The gap between two queued kernels of one stream. */
    Time KernelGap() const
    {
        return m_gpu->kernels.gap;
    }

    const Gpu& GetGpu() const
    {
        return *m_gpu;
    }

  private:
    const Gpu* m_gpu; //!< must outlive the timer
    ClockRegime m_regime;
};

/** Partition of a GEMM over the SMs. */
struct GemmPlan
{
    GemmTile tile;
    uint32_t splits{1}; //!< parts of the inner dimension, each with its own thread blocks (split-K)
    uint64_t waves{0};  //!< tiles that the busiest SM computes
    double clockHz{0};  //!< SM clock while it runs
};

/**
 * Width of the widest load, in bytes. Rows that are not multiples of it cannot use the fast
 * kernels.
 */
constexpr uint32_t WORD_BYTES = 16;

/**
 * Partition that KernelTimer::Gemm uses for @p shape.
 * @throws std::invalid_argument as KernelTimer::Gemm.
 */
GemmPlan PlanGemm(const Gpu& gpu, ClockRegime regime, const GemmShape& shape);

/** GPU resources that the communication kernels of a GPU occupy while they run. */
struct CommunicationLoad
{
    uint32_t sms{0};         //!< one per channel
    double memoryTraffic{0}; //!< share of the HBM rate, [0, 1)
};

/** Slowdown of kernels that overlap communication. */
enum class OverlapKind : uint8_t
{
    Off,      //!< none
    Constant, //!< one factor for all kernels, whatever overlaps them
    Modeled   //!< by OverlapSlowdown
};

struct OverlapPolicy
{
    OverlapKind kind{OverlapKind::Modeled};
    double factor{1}; //!< for Constant, >= 1
};

/**
 * Time of a kernel that overlaps communication, over its uncontended time:
 *     1 + smShare (N / (N - n) - 1) + (n > 0) displaced + memoryShare b
 * where communication occupies n of N SMs and a share b of the HBM rate. Kernels keep at least half
 * of the SMs, however many communications run. Measured on an H200 with 4 to 32 concurrent thread
 * blocks (copies and reductions at full rate and at 20 GB/s each), the median error is 6 % (90th
 * percentile 32 %) for GEMMs, 1 % (11 %) for fused attention, and 3 % (23 %) for memory-bound
 * kernels, whose blocks share SMs.
 * @throws std::invalid_argument when the GPU has no SMs.
 */
double OverlapSlowdown(const OverlapTraits& kernel, const CommunicationLoad& load, uint32_t gpuSms);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_KERNEL_TIME_H
