// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_WEIR_UNITS_H
#define WEIR_MODEL_WEIR_UNITS_H

#include "fabric/units.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"

/**
 * @file
 * Conversions between the quantities of ns-3 and of Weir. ns3::Time counts steps of the simulator's
 * resolution and ns3::DataRate whole bits per second; weir::Time counts picoseconds and weir::Rate
 * is a double in bytes per second.
 */
namespace ns3
{

/**
 * Converts a time to picoseconds. Aborts beyond 106 days, the range of picoseconds.
 * @return the same time, exactly
 */
weir::Time ToWeir(Time time);

/**
 * Converts a data rate.
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
 * Converts a rate.
 * @param rate finite
 * @return the nearest whole number of bits per second
 */
DataRate ToNs3(weir::Rate rate);

} // namespace ns3

#endif // WEIR_MODEL_WEIR_UNITS_H
