// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_WEIR_UNITS_H
#define WEIR_MODEL_WEIR_UNITS_H

#include "fabric/units.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"

/**
 * @file
 * The one place where ns-3's quantities become Weir's and back: ns3::Time counts steps of the
 * simulator's resolution and ns3::DataRate whole bits per second, weir::Time counts picoseconds and
 * weir::Rate is a double in bytes per second.
 */
namespace ns3
{

/**
 * A time of the simulator in picoseconds. Ends the program past 106 days, the most that
 * picoseconds can count.
 * @param time the time
 * @return the same time, exactly
 */
weir::Time ToWeir(Time time);

/**
 * @param rate in bits per second
 * @return the same rate
 */
weir::Rate ToWeir(DataRate rate);

/**
 * The earliest time of the simulator that is not before @p time.
 * @param time finite
 * @return the time, rounded up to the simulator's resolution
 */
Time ToNs3(weir::Time time);

/**
 * @param rate finite
 * @return the nearest whole number of bits per second
 */
DataRate ToNs3(weir::Rate rate);

} // namespace ns3

#endif // WEIR_MODEL_WEIR_UNITS_H
