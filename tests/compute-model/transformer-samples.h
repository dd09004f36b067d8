// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_TRANSFORMER_SAMPLES_H
#define WEIR_TESTS_COMPUTE_MODEL_TRANSFORMER_SAMPLES_H

#include "compute-model/kernels/gpu.h"
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/models/transformer.h"

namespace weir
{

/** A GPT of Narayanan et al. 2021, table 1: vocabulary 51200, sequence 2048, inner width 4h. */
inline Transformer
SampleGpt(uint32_t layers, uint32_t hidden, uint32_t heads)
{
    Transformer model;
    model.name = "gpt";
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kvHeads = heads;
    model.headDim = hidden / heads;
    model.ffn = 4 * hidden;
    model.sequence = 2048;
    model.vocabulary = 51200;
    return model;
}

/** Llama 2 70B (Touvron et al. 2023, table 1): grouped queries, SwiGLU, RMSNorm, rotary. */
inline Transformer
SampleLlama70b()
{
    Transformer model;
    model.name = "llama-2-70b";
    model.layers = 80;
    model.hidden = 8192;
    model.heads = 64;
    model.kvHeads = 8;
    model.headDim = 128;
    model.ffn = 28672;
    model.sequence = 4096;
    model.vocabulary = 32000;
    model.norm = NormKind::RmsNorm;
    model.activation = ActivationKind::SwiGlu;
    model.tiedEmbeddings = false;
    model.biases = false;
    model.dropout = false;
    model.learnedPositions = false;
    return model;
}

/** Round numbers near those of an A100; tests of structure do not depend on them. */
inline Gpu
SampleGpu()
{
    Gpu gpu;
    gpu.name = "sample";
    gpu.sms = 100;
    gpu.boostClockHz = 1e9;
    gpu.burstTensorClockHz = 1e9;
    gpu.sustainedClockHz = 1e9;
    gpu.tensorFlopsPerSmPerClock = {128, 1024, 2000, 2000, 4000};
    gpu.memoryRate = Rate::GBps(2000);
    gpu.memory = Bytes::GiB(80);
    gpu.l2 = Bytes::MiB(40);
    gpu.kernels.measuredOn = "sample";
    gpu.kernels.gap = Time::Microseconds(1);
    GemmCalibration& gemm = gpu.kernels.gemm;
    gemm.tensorEfficiency.fill(0.8);
    gemm.operandBytesPerSmPerClock = 64;
    gemm.epilogueBytesPerSmPerClock = 64;
    gemm.memoryEfficiency = 0.8;
    gemm.unalignedLoadsPerSmPerClock = 4;
    gemm.unalignedTiles = {{128, 128}};
    gemm.sharpness = 4;
    gemm.floor = Time::Microseconds(2);
    gemm.tiles = {{128, 128}};
    AttentionCalibration& attention = gpu.kernels.attention;
    attention.kernel = "flash";
    attention.tileRows = 128;
    attention.headDimStep = 32;
    for (AttentionPass* pass : {&attention.forward, &attention.backward})
    {
        pass->efficiency = 0.5;
        pass->singleTileRate = 1;
        pass->memoryEfficiency = 0.8;
        pass->floor = Time::Microseconds(2);
    }
    gpu.kernels.fullLoadUtilization = 1;
    gpu.kernels.memory.resize(MEMORY_KERNEL_COUNT);
    for (MemoryKernelCalibration& figures : gpu.kernels.memory)
    {
        figures.efficiency = 0.8;
        figures.floor = Time::Microseconds(2);
    }
    LookupCalibration& lookups = gpu.kernels.lookups;
    lookups.l1Share = 0.8;
    lookups.l2Share = 0.9;
    for (LookupPass* pass : {&lookups.forward, &lookups.backward})
    {
        pass->memoryEfficiency = 0.8;
        pass->l1Rate = 80;
        pass->l2Rate = 40;
        pass->addRate = 64;
        pass->sharpness = 2;
        pass->bagsAtOnce = 200;
        pass->rowLatency = Time::Nanoseconds(200);
        pass->floor = Time::Microseconds(2);
    }
    OperatorCalibration& operators = gpu.kernels.operators;
    operators.batchNormForwardBlockRate = 10;
    operators.batchNormBackwardBlockRate = 10;
    operators.trianglePutBytes = 1024;
    operators.tensorPower = 5.5;
    operators.copyBytesPerBlockPerClock = 24;
    operators.reduceBytesPerBlockPerClock = 20;
    return gpu;
}

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_TRANSFORMER_SAMPLES_H
