// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_GPU_H
#define WEIR_SCENARIOS_READERS_READ_GPU_H

#include "compute-model/kernels/gpu.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>

namespace weir
{

/**
 * Why @p gpu cannot compute in @p precision: empty when it can, else "found bf16, expected one of:
 * fp16, fp32 (v100-sxm-32g multiplies matrices in no other)".
 */
std::string WrongPrecision(const Gpu& gpu, Precision precision);

/**
 * Reads a GPU from its description (see scenarios/gpus): every number is a map {value, source},
 * efficiencies are under `kernels`.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
Gpu ReadGpu(const YamlNode& node);

/**
 * Loads the GPU that the file at @p path describes. `kernels: {base: NAME, ...}` overlays the
 * kernel figures of another GPU, of the catalog or of a path beside the file, which may have a base
 * itself; `measuredOn` stays the GPU that they were measured on.
 * @throws InputError as ReadGpu, for an unknown base, and for bases that form a cycle.
 */
Gpu LoadGpu(const std::string& path, const Catalog& catalog = Catalog());

/**
 * The catalog's GPU for a PCI device id (0x20b0: A100 SXM 40 GB). If the id is unknown or absent,
 * the typical GPU of the compute capability; empty if there is none.
 */
std::string GpuOfDevice(const std::string& pciDevice,
                        uint32_t computeCapability,
                        const Catalog& catalog);

/** The PCI device id of a GPU, given by catalog name or file; empty if unknown. */
std::string PciDeviceOf(const std::string& gpu, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_GPU_H
