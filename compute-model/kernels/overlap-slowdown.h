// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_OVERLAP_SLOWDOWN_H
#define WEIR_COMPUTE_MODEL_KERNELS_OVERLAP_SLOWDOWN_H

#include <cstdint>

namespace weir
{

/** Sensitivity of a kernel to overlapping communication; of several kernels, the mean over time. */
struct OverlapTraits
{
    float smShare{
        0}; //!< share of its time in thread blocks that leave no room for another on their SM
    float displaced{0};   //!< relative additional time of the tiles whose SMs are occupied
    float memoryShare{0}; //!< share of its time that concurrent memory traffic lengthens
};

/** GPU resources that the communication kernels of a GPU occupy while they run. */
struct CommunicationLoad
{
    uint32_t sms{0};         //!< one per channel
    double memoryTraffic{0}; //!< share of the HBM rate, [0, 1)
};

/** Slowdown of kernels that overlap communication. */
enum class OverlapKind : uint8_t
{
    Off,      //!< none
    Constant, //!< one factor for all kernels, whatever overlaps them
    Modeled   //!< by OverlapSlowdown
};

struct OverlapPolicy
{
    OverlapKind kind{OverlapKind::Modeled};
    double factor{1}; //!< for Constant, >= 1
};

/**
 * Time of a kernel that overlaps communication, over its uncontended time:
 *     1 + smShare (N / (N - n) - 1) + (n > 0) displaced + memoryShare b
 * where communication occupies n of N SMs and a share b of the HBM rate. Kernels keep at least half
 * of the SMs, however many communications run. Measured on an H200 with 4 to 32 concurrent thread
 * blocks (copies and reductions at full rate and at 20 GB/s each), the median error is 6 % (90th
 * percentile 32 %) for GEMMs, 1 % (11 %) for fused attention, and 3 % (23 %) for memory-bound
 * kernels, whose blocks share SMs.
 * @throws std::invalid_argument when the GPU has no SMs.
 */
double OverlapSlowdown(const OverlapTraits& kernel, const CommunicationLoad& load, uint32_t gpuSms);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_OVERLAP_SLOWDOWN_H
