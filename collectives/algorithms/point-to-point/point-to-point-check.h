// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_CHECK_H
#define WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_CHECK_H

#include "collectives/algorithms/traffic.h"
#include "collectives/schedule/schedule.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * Proves that a schedule of sends and receives delivers @p messages: what leaves each rank for each
 * other is the bytes of their message and nothing goes between others; every connection's chunks
 * are received in the order and the sizes in which they are sent; and run with its slots, no block
 * waits for ever.
 *
 * @return the first fault in words, empty when there is none. O(primitives).
 */
std::string CheckPointToPoint(const Schedule& schedule, const std::vector<Message>& messages);

/**
 * Runs @p schedule with its slots in no time at all.
 * @return who waits for ever, empty when nobody does.
 */
std::string CheckProgress(const Schedule& schedule);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_CHECK_H
