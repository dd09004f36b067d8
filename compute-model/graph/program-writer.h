// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_PROGRAM_WRITER_H
#define WEIR_COMPUTE_MODEL_GRAPH_PROGRAM_WRITER_H

#include "compute-model/graph/gradient-buckets.h"
#include "compute-model/graph/step-program.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/rank-groups.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Writes the program of a role as a framework on CUDA issues it. Kernels go to the compute stream.
 * A communication waits for everything issued to the compute stream so far (kernels and waits), as
 * in torch.distributed. The compute stream continues until it is told to wait.
 */
class ProgramWriter
{
  public:
    /** Both must outlive the writer. @param host CPU time spent on issuing the program */
    ProgramWriter(KernelTable& kernels, StepProgram& program, const HostCosts& host = {});

    /** Everything that follows belongs to @p microBatch and @p layer. */
    void SetLayer(uint32_t microBatch, uint32_t layer);

    /**
     * Appends a sequence. A short tail after a communication and the kernels that follow it become
     * one operation, so that layer boundaries need no operation of their own.
     * @param ready if not null, receives the gradients that become final, @p gradientBytes each,
     *        when the kernels before them have been issued; it may issue communications. Segments
     *        that continue others join their operation unless it issues something in between.
     */
    void Append(const SegmentSequence& sequence,
                GradientBuckets* ready = nullptr,
                uint32_t gradientBytes = 0);

    /** Appends the kernels since the last range of the kernel table as one segment. */
    void AppendKernels(const char* label);

    /** Issues a communication after everything so far. @return the argument of Wait */
    StepDependency Communicate(const CommunicationRequest& request);

    /**
     * Issues a communication that waits only for its stream and its peers. The CPU has launched it
     * ahead of time, at the same CPU cost as any other.
     */
    StepDependency CommunicateFreely(const CommunicationRequest& request);

    /**
     * Issues a communication that waits for one operation: a compute operation, or a communication
     * on another stream.
     */
    StepDependency CommunicateAfter(const CommunicationRequest& request,
                                    const StepDependency& operation);

    /** Everything issued to the compute stream from here on waits for @p operation. */
    void Wait(const StepDependency& operation);

    /** Waits for all of @p operations, and clears them. */
    void WaitForAll(std::vector<StepDependency>& operations);

    /** The CPU waits for everything issued so far before it issues more. */
    void SynchronizeHost();

  private:
    static constexpr int64_t NOTHING = -1;

    void AppendCompute(const Segment& segment);
    void JoinLast(const Segment& segment);
    StepOp IssueCommunication();
    StepDependency AppendCommunication(const CommunicationRequest& request, StepOp op);
    void AddPending(StepOp& op, StreamKind except);
    void AddDependency(StepOp& op, StreamKind stream, uint32_t position);
    bool HasPending() const;
    uint32_t LastCompute() const;

    KernelTable& m_kernels;
    StepProgram& m_program;
    HostCosts m_host;
    Time m_issued;              //!< CPU time spent since the last synchronization
    uint32_t m_epoch{0};        //!< synchronizations so far
    bool m_synchronizes{false}; //!< the CPU waits before the next kernels
    std::array<int64_t, STREAM_COUNT>
        m_pending;        //!< by stream: position that the next kernels wait for
    bool m_isTail{false}; //!< the next segment may join the last compute operation
    uint32_t m_microBatch{0};
    uint32_t m_layer{StepOp::NO_LAYER};
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_PROGRAM_WRITER_H
