// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_OVERLAP_SLOWDOWN_H
#define WEIR_COMPUTE_MODEL_KERNELS_OVERLAP_SLOWDOWN_H

#include <cstdint>

namespace weir
{

/** What communication beside a kernel can take from it; of several kernels the mean over time. */
struct OverlapTraits
{
    float smShare{0};     //!< of its time: thread blocks that leave no room for another on their SM
    float displaced{0};   //!< when SMs are taken: more time for the tiles of theirs, relative
    float memoryShare{0}; //!< of its time: lengthened by memory traffic beside it
};

/** What the communication kernels of a GPU take while they run. */
struct CommunicationLoad
{
    uint32_t sms{0};         //!< one a channel
    double memoryTraffic{0}; //!< of the HBM rate, [0, 1)
};

/** How kernels beside communication are slowed. */
enum class OverlapKind : uint8_t
{
    Off,      //!< not at all
    Constant, //!< all of them by one factor, whatever runs beside them
    Modeled   //!< by OverlapSlowdown
};

struct OverlapPolicy
{
    OverlapKind kind{OverlapKind::Modeled};
    double factor{1}; //!< for Constant, >= 1
};

/**
 * Time of a kernel beside communication over its time alone:
 *     1 + smShare (N / (N - n) - 1) + (n > 0) displaced + memoryShare b
 * with n of N SMs and a share b of the HBM rate taken. Kernels keep half of the SMs however many
 * communications there are. On an H200 beside 4 to 32 blocks (copies and reductions at full rate
 * and at 20 GB/s each) it is off by 6 % (median; 90th percentile 32 %) for matrix multiplications,
 * 1 % (11 %) for fused attention, 3 % (23 %) for memory-bound kernels, whose blocks share SMs.
 * @throws std::invalid_argument when the GPU has no SMs.
 */
double OverlapSlowdown(const OverlapTraits& kernel, const CommunicationLoad& load, uint32_t gpuSms);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_OVERLAP_SLOWDOWN_H
