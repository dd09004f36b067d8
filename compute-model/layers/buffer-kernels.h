// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_BUFFER_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_BUFFER_KERNELS_H

#include "compute-model/layers/kernel-table.h"

namespace weir
{

/**
 * A memory-bound kernel over a flat buffer of @p elements.
 * @param bytesPerElement moved for each, all operands together.
 */
void WriteBufferKernel(KernelTable& kernels,
                       const char* name,
                       MemoryKernel kernel,
                       double elements,
                       double bytesPerElement);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_BUFFER_KERNELS_H
