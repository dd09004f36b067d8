// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/overlap-slowdown.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

double
OverlapSlowdown(const OverlapTraits& kernel, const CommunicationLoad& load, uint32_t gpuSms)
{
    if (gpuSms == 0)
    {
        throw std::invalid_argument("OverlapSlowdown: a GPU without SMs");
    }
    const uint32_t held = std::min(load.sms, gpuSms / 2);
    const double crowding = static_cast<double>(held) / (gpuSms - held);
    return 1 + kernel.smShare * crowding + (held == 0 ? 0 : kernel.displaced) +
           kernel.memoryShare * load.memoryTraffic;
}

} // namespace weir
