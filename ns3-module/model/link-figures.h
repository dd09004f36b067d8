// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_LINK_FIGURES_H
#define WEIR_MODEL_LINK_FIGURES_H

#include "fabric/link-profile.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"

/**
 * @file
 * A link profile as the three figures that attributes hold: raw rate of one direction, the part of
 * it that carries payload, latency.
 */
namespace ns3
{

/**
 * Takes the figures from a profile.
 * @param profile the profile
 * @param rate raw, one direction
 * @param efficiency payload part of the rate
 * @param latency propagation and receiving device
 */
void ReadLink(const weir::LinkProfile& profile, DataRate& rate, double& efficiency, Time& latency);

/**
 * Gives a profile the figures that differ from its own.
 * @param profile the profile
 * @param rate raw, one direction
 * @param efficiency payload part of the rate
 * @param latency propagation and receiving device
 */
void WriteLink(weir::LinkProfile& profile, DataRate rate, double efficiency, Time latency);

} // namespace ns3

#endif // WEIR_MODEL_LINK_FIGURES_H
