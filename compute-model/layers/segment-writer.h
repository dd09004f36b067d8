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

/** Ranks of a communication inside a layer, and the category of the time spent waiting for it. */
struct SegmentGroup
{
    GroupSlot slot{GroupSlot::Tensor};
    uint32_t ranks{1};
    TimeCategory category{TimeCategory::Tensor};
    StreamKind stream{StreamKind::TensorComm};
    bool byCopyEngine{false}; //!< communications occupy no SMs
};

/** Tensor ranks that hold columns of the same tokens: the tensor group, or a row of a grid. */
SegmentGroup TokenGroup(const ParallelPlan& plan);

/** Tensor ranks of a grid that hold the same columns of different tokens. */
SegmentGroup ColumnGroup(const ParallelPlan& plan);

/** A communication to be issued. */
struct CommunicationRequest
{
    StreamKind stream{StreamKind::TensorComm};
    StepOpKind kind{StepOpKind::Collective};
    CollectiveOp collective{CollectiveOp::AllReduce};
    TimeCategory category{TimeCategory::Tensor};
    GroupSlot slot{GroupSlot::Tensor};
    Bytes bytes;
    uint32_t label{0};
    uint32_t root{0};             //!< of a broadcast or reduce
    bool byCopyEngine{false};     //!< it occupies no SMs
    uint16_t traffic{EVEN_PARTS}; //!< of an all-to-all
};

/** A collective of the replicas, whose process group has one stream. */
inline CommunicationRequest
DataRequest(CollectiveOp op, GroupSlot slot, Bytes bytes, uint32_t label)
{
    return {
        StreamKind::DataComm, StepOpKind::Collective, op, TimeCategory::Data, slot, bytes, label};
}

/** Consecutive kernels without communication between them, or one communication. */
struct Segment
{
    bool isCommunication{false};
    CommunicationRequest communication{}; //!< if it is one
    bool synchronizes{false};   //!< the CPU waits for the GPU before it launches these kernels
    uint32_t label{0};          //!< of a compute segment
    KernelRange kernels;        //!< of a compute segment
    double parameters{0};       //!< whose gradients are final when the segment ends
    double expertParameters{0}; //!< the same for experts
    bool continues{false}; //!< split from the segment before only because gradients are final there
    int32_t waitsFor{NOTHING}; //!< communication of the same sequence that must end first

    static constexpr int32_t NOTHING = -1;
};

/**
 * Segments in the order in which Megatron-LM issues them. A communication starts when the kernels
 * issued before it have ended. Kernels issued after it overlap it unless they wait for it.
 */
using SegmentSequence = std::vector<Segment>;

/** The kernels since the last range of @p kernels as one segment named @p label. */
SegmentSequence CloseSegment(KernelTable& kernels, const char* label);

/**
 * Writes a SegmentSequence. Communications in groups of one rank, and waits for them, are omitted.
 */
class SegmentWriter
{
  public:
    /** Both must outlive it. */
    SegmentWriter(KernelTable& kernels, const ParallelPlan& plan);

    const ParallelPlan& Plan() const
    {
        return m_plan;
    }

    const Gpu& GetGpu() const
    {
        return m_kernels.GetGpu();
    }

    /** Bytes of an activation. */
    double ElementBytes() const
    {
        return m_elementBytes;
    }

    /** The kernels that follow belong to a part of the model with this name. */
    void Section(const std::string& name);

    void Gemm(const std::string& name, const GemmShape& shape);
    void Attention(const std::string& name, const AttentionShape& shape, bool isBackward);

    /** See KernelTable::Memory; rows consist of elements of the plan's activation precision. */
    void Memory(const std::string& name,
                MemoryKernel kernel,
                const MatrixSize& size,
                double bytesPerElement);

    /** An elementwise kernel that reads or writes @p operands activations per element. */
    void Elementwise(const std::string& name, const MatrixSize& size, double operands);

    /**
     * The gradients of @p parameters more parameters are final after the kernels so far. Where they
     * go to buckets, the segment ends here, so that the reduction of a bucket that they fill need
     * not wait for further kernels.
     */
    void GradientsReady(double parameters);

    /** The same for parameters of experts. */
    void ExpertGradientsReady(double parameters);

    /**
     * Issues a communication over the plan's TokenGroup; unless the plan overlaps tensor
     * communication, the kernels that follow wait for it.
     * @return the argument of WaitFor
     */
    int32_t Communicate(const std::string& name, CollectiveOp op, Bytes bytes);

    /**
     * Issues a communication over @p group.
     * @param root group rank of the root of a broadcast or reduce
     * @return the argument of WaitFor
     */
    int32_t CommunicateIn(const SegmentGroup& group,
                          const std::string& name,
                          CollectiveOp op,
                          Bytes bytes,
                          uint32_t root = 0);

    /** Issues an all-to-all of unequal parts. @param traffic index into StepGraph::traffics */
    int32_t ExchangeIn(const SegmentGroup& group,
                       const std::string& name,
                       Bytes bytes,
                       uint16_t traffic);

    /** The CPU waits for the GPU before it launches the kernels that follow. */
    void SynchronizeHost();

    /** The kernels that follow wait for the communication, and for all before it on its stream. */
    void WaitFor(int32_t communication);

    SegmentSequence Take();

  private:
    void Close();
    void Part();
    void CopyParts(const std::string& name, Bytes bytes);
    void PushWait();
    StreamKind StreamOf(int32_t communication) const;

    KernelTable& m_kernels;
    const ParallelPlan& m_plan;
    SegmentGroup m_tokenGroup;
    uint32_t m_elementBytes; //!< of activations
    SegmentSequence m_segments;
    Segment m_open;
    uint32_t m_label{0};
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_SEGMENT_WRITER_H
