// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_SEGMENT_WRITER_H
#define WEIR_COMPUTE_MODEL_LAYERS_SEGMENT_WRITER_H

#include "collectives/collective.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-stream.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/rank-groups.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Which ranks a communication inside a layer joins, and how waiting for it is booked. */
struct SegmentGroup
{
    GroupSlot slot{GroupSlot::Tensor};
    uint32_t ranks{1};
    TimeCategory category{TimeCategory::Tensor};
    StreamKind stream{StreamKind::TensorComm};
    bool byCopyEngine{false}; //!< communications hold no multiprocessors
};

/** The tensor ranks that hold columns of the same tokens: the tensor group, a row of a grid. */
SegmentGroup TokenGroup(const ParallelPlan& plan);

/** The tensor ranks of a grid that hold the same columns of other tokens. */
SegmentGroup ColumnGroup(const ParallelPlan& plan);

/** A run of kernels without communication between them, or one communication. */
struct Segment
{
    bool isCommunication{false};
    bool synchronizes{false}; //!< the CPU waits for the GPU before it launches these kernels
    uint32_t label{0};
    KernelRange kernels;        //!< of a compute segment
    double parameters{0};       //!< whose gradients are final when it ends
    double expertParameters{0}; //!< of experts, similarly
    bool continues{false}; //!< parted from the segment before by gradients that are final there
    GroupSlot slot{GroupSlot::Tensor};                //!< of a communication
    TimeCategory category{TimeCategory::Tensor};      //!< of a communication
    StreamKind stream{StreamKind::TensorComm};        //!< of a communication
    uint32_t root{0};                                 //!< of a broadcast or reduce
    uint16_t traffic{EVEN_PARTS};                     //!< of an all-to-all, see StepOp
    bool byCopyEngine{false};                         //!< of a communication
    CollectiveOp collective{CollectiveOp::AllReduce}; //!< of a communication
    Bytes bytes;                                      //!< of a communication, nccl-tests' size
    int32_t waitsFor{NOTHING}; //!< communication of the same sequence that must end before it

    static constexpr int32_t NOTHING = -1;
};

/**
 * Segments in the order Megatron-LM issues them. A communication starts when the kernels issued
 * before it have ended; kernels issued after it run beside it unless they wait for it.
 */
using SegmentSequence = std::vector<Segment>;

/** Writes a SegmentSequence. Communications in groups of one rank, and waits for them, vanish. */
class SegmentWriter
{
  public:
    SegmentWriter(KernelTable& kernels, const ParallelPlan& plan);

    const Gpu& GetGpu() const
    {
        return m_kernels.GetGpu();
    }

    /** Kernels from here on belong to a part of the model with this name. */
    void Section(const std::string& name);

    void Gemm(const std::string& name, const GemmShape& shape);
    void AttentionForward(const std::string& name, const AttentionShape& shape);
    void AttentionBackward(const std::string& name, const AttentionShape& shape);

    /** See KernelTable::Memory; rows are of elements of the plan's activation precision. */
    void Memory(const std::string& name,
                MemoryKernel kernel,
                uint64_t rows,
                uint64_t columns,
                double bytesPerElement);

    /**
     * The gradients of @p parameters more parameters are final after the kernels so far. Where they
     * go to buckets, the segment ends here: the reduction of one that they fill, with gradients of
     * segments before, need not wait for more kernels.
     */
    void GradientsReady(double parameters);

    /** The gradients of @p parameters more of experts' parameters are final, similarly. */
    void ExpertGradientsReady(double parameters);

    /** Issues a communication over the plan's TokenGroup. @return what WaitFor takes. */
    int32_t Communicate(const std::string& name, CollectiveOp op, Bytes bytes);

    /**
     * Issues a communication over @p group.
     * @param root group rank, of a broadcast or reduce.
     * @return what WaitFor takes.
     */
    int32_t CommunicateIn(const SegmentGroup& group,
                          const std::string& name,
                          CollectiveOp op,
                          Bytes bytes,
                          uint32_t root = 0);

    /** Issues an all-to-all of unequal parts, @p traffic being their place in the StepGraph. */
    int32_t ExchangeIn(const SegmentGroup& group,
                       const std::string& name,
                       Bytes bytes,
                       uint16_t traffic);

    /** The CPU waits for the GPU before it launches the kernels that follow. */
    void SynchronizeHost();

    /** Kernels from here on need the communication, and all before it on its stream. */
    void WaitFor(int32_t communication);

    SegmentSequence Take();

  private:
    void Close();
    void Part();
    void CopyParts(const std::string& name, Bytes bytes);
    void PushWait();
    StreamKind StreamOf(int32_t communication) const;

    KernelTable& m_kernels;
    SegmentGroup m_tokenGroup;
    bool m_overlapsTensor;   //!< kernels run beside tensor-parallel communication
    uint32_t m_elementBytes; //!< of activations
    bool m_hasBuckets;       //!< gradients are reduced in buckets
    bool m_hasExpertBuckets; //!< the same for experts
    SegmentSequence m_segments;
    Segment m_open;
    uint32_t m_label{0};
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_SEGMENT_WRITER_H
