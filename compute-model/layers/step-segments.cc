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
    layerRecompute = LayerRecompute(kernels, model, plan);
    if (plan.SplitsBackward())
    {
        layerBackwardInput = LayerBackwardInput(kernels, model, plan);
        layerBackwardWeights = LayerBackwardWeights(kernels, model, plan);
    }
    if (model.HasExperts())
    {
        const LayerKind kind = LayerKind::Experts;
        expertForward = LayerForward(kernels, model, plan, "forward", kind);
        expertBackward = LayerBackward(kernels, model, plan, kind);
        expertRecompute = LayerRecompute(kernels, model, plan, kind);
        if (plan.SplitsBackward())
        {
            expertBackwardInput = LayerBackwardInput(kernels, model, plan, kind);
            expertBackwardWeights = LayerBackwardWeights(kernels, model, plan, kind);
        }
    }
}

} // namespace weir
