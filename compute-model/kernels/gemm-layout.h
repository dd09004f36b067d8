// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_GEMM_LAYOUT_H
#define WEIR_COMPUTE_MODEL_KERNELS_GEMM_LAYOUT_H

#include <cstdint>

namespace weir
{

/** Operand layouts of C[m,n] = A[m,k] B[k,n], as BLAS names them. */
enum class GemmLayout : uint8_t
{
    Tn, //!< forward: x W^T
    Nn, //!< input gradient
    Nt  //!< weight gradient
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_GEMM_LAYOUT_H
