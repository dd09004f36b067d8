// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/models/precision.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

uint32_t
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

uint32_t
ActivationBytes(Precision precision)
{
    return std::max(2U, BytesOf(precision));
}

} // namespace weir
