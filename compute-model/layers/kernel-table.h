// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_KERNEL_TABLE_H
#define WEIR_COMPUTE_MODEL_LAYERS_KERNEL_TABLE_H

#include "compute-model/kernels/embedding-time.h"
#include "compute-model/kernels/kernel-time.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir
{

/**
 * A kernel inside a compute operation, kept for the overlap model, display, export and validation.
 */
struct KernelRecord
{
    uint32_t name{0}; //!< index into KernelRecords::labels
    Flops flops;
    Bytes bytes; //!< memory traffic, each operand once
    Time duration;
    uint8_t provenance{0};           //!< an EstimateProvenance
    float tensorBusy{0};             //!< share of its clocks that keep the tensor cores busy
    OverlapTraits overlap;           //!< sensitivity to overlapping communication
    std::array<uint32_t, 4> shape{}; //!< m, n, k, batch for a GEMM; rows, columns otherwise
};

/** Kernels of a step, each sequence once, and their names. */
struct KernelRecords
{
    std::vector<std::string> labels; //!< names shared by operations and kernels
    std::vector<KernelRecord> kernels;
};

/** Consecutive records of KernelRecords::kernels and their total duration. */
struct KernelRange
{
    uint32_t first{0};
    uint32_t count{0};
    Time duration;    //!< kernels and the gaps between them
    Time host;        //!< CPU time that launching them takes
    Time launchBound; //!< from the CPU's first launch to the last kernel's end, on an initially
                      //!< idle GPU

    /** These kernels followed by those of @p next. */
    KernelRange Then(const KernelRange& next) const;
};

/** Size of the matrix that a kernel processes. */
struct MatrixSize
{
    uint64_t rows{0};
    uint64_t columns{0};
};

/**
 * Writes the kernels of a step: estimates their times, interns their names, and stores each
 * sequence once, however often a step repeats it. A range is open from its first kernel to Close().
 */
class KernelTable
{
  public:
    /** @p records and the GPU of @p timer must outlive the table. @param host CPU time to launch a
     * kernel */
    KernelTable(KernelRecords& records, const KernelTimer& timer, Time host = Time());

    /** The index of @p text in KernelRecords::labels. */
    uint32_t Label(const std::string& text);

    void Gemm(const std::string& name, const GemmShape& shape);
    void Attention(const std::string& name, const AttentionShape& shape, bool isBackward);

    /**
     * A memory-bound kernel over a matrix.
     * @param bytesPerElement bytes moved per element, summed over all operands
     * @param elementBytes bytes of one element in the row that norms and softmaxes reduce; 0: there
     *        are no rows
     * @throws std::invalid_argument when the kernel moves 2^62 bytes or more.
     */
    void Memory(const std::string& name,
                MemoryKernel kernel,
                const MatrixSize& size,
                double bytesPerElement,
                uint32_t elementBytes = 0);

    /** A table-batched look-up; see EmbeddingForwardTime. */
    void EmbeddingForward(const std::string& name, const std::vector<EmbeddingLookup>& batch);

    /**
     * Backward pass and update of a look-up.
     * @param isExact updates each row once, with sorted look-ups (EmbeddingExactUpdateTime); else
     *        each look-up updates its row (EmbeddingBackwardTime)
     */
    void EmbeddingUpdate(const std::string& name,
                         const std::vector<EmbeddingLookup>& batch,
                         bool isExact);

    /** GPU of these kernels. */
    const Gpu& GetGpu() const
    {
        return m_timer.GetGpu();
    }

    /** Ends the open range and returns it; empty when nothing was added. */
    KernelRange Close();

    /** Both ranges as one; stored once per pair. @throws std::logic_error while a range is open. */
    KernelRange Concatenate(const KernelRange& a, const KernelRange& b);

  private:
    void Add(const std::string& name,
             const KernelEstimate& estimate,
             const std::array<uint32_t, 4>& shape);

    KernelRecords& m_records;
    KernelTimer m_timer;
    Time m_host;                                             //!< CPU time to launch a kernel
    std::map<std::string, uint32_t> m_labels;                //!< index of each name
    std::map<std::array<uint32_t, 4>, KernelRange> m_joined; //!< by both ranges' first and count
    KernelRange m_open;
};

/**
 * A memory-bound kernel over a flat buffer of @p elements.
 * @param bytesPerElement bytes moved per element, summed over all operands
 */
void WriteBufferKernel(KernelTable& kernels,
                       const char* name,
                       MemoryKernel kernel,
                       double elements,
                       double bytesPerElement);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_KERNEL_TABLE_H
