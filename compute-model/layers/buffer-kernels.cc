// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/buffer-kernels.h"

#include <cmath>

namespace weir
{

namespace
{

/** Columns of the matrix that a buffer is described as; only its area matters. */
constexpr uint64_t BUFFER_COLUMNS = 1024;

} // namespace

void
WriteBufferKernel(KernelTable& kernels,
                  const char* name,
                  MemoryKernel kernel,
                  double elements,
                  double bytesPerElement)
{
    const auto rows =
        static_cast<uint64_t>(std::ceil(elements / static_cast<double>(BUFFER_COLUMNS)));
    kernels.Memory(name, kernel, rows, BUFFER_COLUMNS, bytesPerElement, 0);
}

} // namespace weir
