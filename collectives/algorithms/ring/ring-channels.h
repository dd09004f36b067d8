// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_RING_CHANNELS_H
#define WEIR_COLLECTIVES_ALGORITHMS_RING_CHANNELS_H

#include "collectives/algorithms/algorithm.h"

#include <cstdint>

/**
 * @file
 * What every algorithm that runs on a communicator's ring channels has in common.
 */
namespace weir
{

/** All channels of the communicator. */
uint32_t RingMaxChannels(const AlgorithmInputs& inputs);

/**
 * Over how many rings the process that serves most sends over the network at once. Only under LL
 * messages lie in the hosts' memory, where that counts.
 */
uint32_t RingSenders(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_RING_CHANNELS_H
