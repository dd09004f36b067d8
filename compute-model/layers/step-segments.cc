// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-segments.h"

#include "compute-model/layers/embedding-kernels.h"
#include "compute-model/layers/layer-kernels.h"
#include "compute-model/layers/output-kernels.h"

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
