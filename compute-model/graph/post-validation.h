// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_POST_VALIDATION_H
#define WEIR_COMPUTE_MODEL_GRAPH_POST_VALIDATION_H

#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/stage-program.h"

namespace weir
{

/**
 * Writes how the stages of a pipeline come to know the gradient norm without waiting for all others
 * (Qi et al. 2023, arXiv 2401.10241, section 4): before its update a stage gets what the stages
 * before it have summed, adds its own and passes it on; while the next step warms up the whole sum
 * comes back from the last stage to the first, and each stage validates its update by it. That it
 * always turns out right, so that nothing is rolled back, is assumed, as is a norm below the limit
 * that gradients are clipped at.
 */
class PostValidation
{
  public:
    PostValidation(const StageSource& source, KernelTable& kernels, ProgramWriter& writer);

    /** A stage's sum is complete and goes on to the next. */
    void PassOn();

    /** A step begins, in which the whole sum of the one before comes back. */
    void PassBack();

  private:
    CommunicationRequest Message(StepOpKind kind, StreamKind stream, GroupSlot slot);

    const StageSource& m_source;
    KernelTable& m_kernels;
    ProgramWriter& m_writer;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_POST_VALIDATION_H
