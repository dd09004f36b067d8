// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_KERNEL_TABLE_H
#define WEIR_COMPUTE_MODEL_LAYERS_KERNEL_TABLE_H

#include "compute-model/kernels/embedding-time.h"
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/kernel-records.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir
{

/** Consecutive records of KernelRecords::kernels and how long they take one after another. */
struct KernelRange
{
    uint32_t first{0};
    uint32_t count{0};
    Time duration;    //!< kernels and the gaps between them
    Time host;        //!< CPU time that launching them takes
    Time launchBound; //!< from the CPU's first launch to the last kernel's end, the GPU idle before

    /** @p next after these. */
    KernelRange Then(const KernelRange& next) const;
};

/**
 * Writes the kernels of a step: times them, interns their names, and keeps each sequence once
 * however often a step repeats it. A range is open from the first kernel to Close().
 */
class KernelTable
{
  public:
    /** @p records and @p timer must outlive the table. @param host CPU time to launch a kernel */
    KernelTable(KernelRecords& records, const KernelTimer& timer, Time host = Time());

    /** The index of @p text in KernelRecords::labels. */
    uint32_t Label(const std::string& text);

    void Gemm(const std::string& name, const GemmShape& shape);
    void AttentionForward(const std::string& name, const AttentionShape& shape);
    void AttentionBackward(const std::string& name, const AttentionShape& shape);

    /**
     * A memory-bound kernel over a matrix.
     * @param bytesPerElement moved for each of rows * columns elements, all operands together.
     * @param elementBytes of one element in the row that norms and softmaxes reduce.
     */
    void Memory(const std::string& name,
                MemoryKernel kernel,
                uint64_t rows,
                uint64_t columns,
                double bytesPerElement,
                uint32_t elementBytes);

    /** A table-batched look-up; see EmbeddingForwardTime. */
    void EmbeddingForward(const std::string& name, const std::vector<EmbeddingLookup>& batch);

    /**
     * Its backward pass and update.
     * @param isExact whether each row is updated once, the look-ups sorted (see
     *        EmbeddingExactUpdateTime), else where gradients fall (EmbeddingBackwardTime).
     */
    void EmbeddingUpdate(const std::string& name,
                         const std::vector<EmbeddingLookup>& batch,
                         bool isExact);

    /** Whose kernels these are. */
    const Gpu& GetGpu() const
    {
        return m_timer.GetGpu();
    }

    /** Ends the open range; empty when nothing was added. */
    KernelRange Close();

    /** Both ranges in one; stored once for each pair. */
    KernelRange Concatenate(const KernelRange& a, const KernelRange& b);

  private:
    void Add(const std::string& name,
             const KernelEstimate& estimate,
             const std::array<uint32_t, 4>& shape);

    KernelRecords& m_records;
    const KernelTimer& m_timer;
    Time m_host;                                             //!< CPU time to launch a kernel
    std::map<std::string, uint32_t> m_labels;                //!< where each name is
    std::map<std::array<uint32_t, 4>, KernelRange> m_joined; //!< by both ranges' first and count
    KernelRange m_open;
};

/**
 * A memory-bound kernel over a flat buffer of @p elements.
 * @param bytesPerElement moved for each, all operands together.
 */
void WriteBufferKernel(KernelTable& kernels,
                       const char* name,
                       MemoryKernel kernel,
                       double elements,
                       double bytesPerElement);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_KERNEL_TABLE_H
