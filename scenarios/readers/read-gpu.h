// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_GPU_H
#define WEIR_SCENARIOS_READERS_READ_GPU_H

#include "compute-model/kernels/gpu.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * What is wrong with computing in @p precision on @p gpu: nothing, or "found bf16, expected one of:
 * fp16, fp32 (v100-sxm-32g multiplies matrices in no other)".
 */
std::string WrongPrecision(const Gpu& gpu, Precision precision);

/**
 * A GPU from its description (see scenarios/gpus): every number a map {value, source}, efficiencies
 * under `kernels`. @throws InputError with the place of what is missing, unknown or out of range.
 */
Gpu ReadGpu(const YamlNode& node);

/** How NCCL topology files name a GPU. */
struct PciDevices
{
    std::vector<std::string> ids; //!< "0x2330"
    bool isTypical{false};        //!< of all GPUs of its compute capability
};

/** {value: [0x2330], isTypical: true, source: ...}. @throws InputError with the place. */
PciDevices ReadPciDevices(const YamlNode& node);

/**
 * The GPU that the file at @p path describes.
 *
 * `kernels: {base: NAME, ...}` takes the figures of what the catalogue calls NAME (a path is taken
 * as one, beside the file) and lays the file's own over them; a base may have a base itself. They
 * stay measured on the GPU that they were measured on.
 * @throws InputError as ReadGpu, for an unknown base, and when bases lead back.
 */
Gpu LoadGpu(const std::string& path, const Catalog& catalog = Catalog());

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_GPU_H
