// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_MIXTURE_SAMPLES_H
#define WEIR_TESTS_COMPUTE_MODEL_MIXTURE_SAMPLES_H

#include "compute-model/plan/parallel-plan.h"

#include "transformer-samples.h"

namespace weir
{

/** Mixtral 8x7B (Jiang et al. 2024, arXiv 2401.04088, table 1). */
inline Transformer
SampleMixtral()
{
    Transformer model = SampleLlama70b();
    model.layers = 32;
    model.hidden = 4096;
    model.heads = 32;
    model.ffn = 14336;
    model.moe.experts = 8;
    model.moe.topK = 2;
    model.moe.ffn = 14336;
    return model;
}

/** DeepSeekMoE 16B (Dai et al. 2024, arXiv 2401.06066): a dense layer, shared experts. */
inline Transformer
SampleDeepSeekMoe()
{
    Transformer model = SampleLlama70b();
    model.layers = 28;
    model.hidden = 2048;
    model.heads = 16;
    model.kvHeads = 16;
    model.ffn = 10944;
    model.vocabulary = 102400;
    model.moe.experts = 64;
    model.moe.topK = 6;
    model.moe.ffn = 1408;
    model.moe.sharedFfn = 2816;
    model.moe.firstLayer = 1;
    return model;
}

/** Four layers, so that a graph is built quickly: one dense, three with experts. */
inline Transformer
SmallMixture()
{
    Transformer model = SampleDeepSeekMoe();
    model.layers = 4;
    return model;
}

/** One micro-batch of one sequence per replica. */
inline ParallelPlan
MixturePlan(uint32_t tensor, uint32_t data, uint32_t expert, uint32_t expertTensor)
{
    ParallelPlan plan;
    plan.tensor = tensor;
    plan.data = data;
    plan.expert = expert;
    plan.expertTensor = expertTensor;
    plan.sequenceParallel = tensor > 1;
    plan.globalBatch = data;
    return plan;
}

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_MIXTURE_SAMPLES_H
