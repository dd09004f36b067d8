// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/step-segments.h"

#include "compute-model/embedding-kernels.h"
#include "compute-model/layer-kernels.h"
#include "compute-model/output-kernels.h"

namespace weir
{

StepSegments::StepSegments(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
    : embeddingForward(EmbeddingForward(kernels, model, plan)),
      embeddingBackward(EmbeddingBackward(kernels, model, plan)),
      layerForward(LayerForward(kernels, model, plan, "forward")),
      layerBackward(LayerBackward(kernels, model, plan)),
      outputForward(OutputForward(kernels, model, plan)),
      outputBackward(OutputBackward(kernels, model, plan))
{
    if (plan.recomputation == Recomputation::Full)
    {
        layerRecompute = LayerForward(kernels, model, plan, "recompute");
    }
}

} // namespace weir
