// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_MODELS_PRECISION_H
#define WEIR_COMPUTE_MODEL_MODELS_PRECISION_H

#include <cstdint>
#include <stdexcept>

namespace weir
{

/** Numeric format of weights and activations in forward and backward. */
enum class Precision : uint8_t
{
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8
};

/** Bytes of a 32-bit number, the precision of optimizer state, softmax and routers. */
constexpr double FP32_BYTES = 4;

inline uint32_t
BytesOf(Precision precision)
{
    switch (precision)
    {
    case Precision::Fp32:
    case Precision::Tf32:
        return 4;
    case Precision::Fp16:
    case Precision::Bf16:
        return 2;
    case Precision::Fp8:
        return 1;
    }
    throw std::logic_error("BytesOf: no such Precision");
}

/** Precision of activations where that of GEMMs is @p precision: fp8 only feeds GEMMs. */
inline Precision
ActivationPrecision(Precision precision)
{
    return precision == Precision::Fp8 ? Precision::Bf16 : precision;
}

/** Bytes of one activation element. */
inline uint32_t
ActivationBytes(Precision precision)
{
    return BytesOf(ActivationPrecision(precision));
}

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_MODELS_PRECISION_H
