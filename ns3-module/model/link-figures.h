// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_LINK_FIGURES_H
#define WEIR_MODEL_LINK_FIGURES_H

#include "fabric/topology/link-profile.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object-base.h"
#include "ns3/type-id.h"

#include <string>

namespace ns3
{

constexpr double MIN_EFFICIENCY = 1e-6; //!< of a link; zero would be one that is down

/** A link profile as the three figures that attributes hold. */
struct LinkFigures
{
    DataRate rate;     //!< raw, one direction
    double efficiency; //!< payload part of the rate
    Time latency;      //!< propagation and receiving device

    /**
     * Takes the figures from a profile.
     * @param profile the profile
     */
    void Read(const weir::LinkProfile& profile);

    /**
     * Gives a profile the figures that differ from its own.
     * @param profile the profile
     */
    void Write(weir::LinkProfile& profile) const;
};

/** The figures of one of an object's links. */
using LinkFiguresOf = LinkFigures& (*)(ObjectBase& object);

/**
 * Adds the attributes "...Rate", "...Efficiency" and "...Latency" of a link.
 * @param tid of the object
 * @param name what they begin with, e.g. "Nic"
 * @param link what the link is, for their help
 * @param initial their default values
 * @param figuresOf where an object has them
 * @return the type ID
 */
TypeId AddLinkAttributes(TypeId tid,
                         const std::string& name,
                         const std::string& link,
                         const LinkFigures& initial,
                         LinkFiguresOf figuresOf);

} // namespace ns3

#endif // WEIR_MODEL_LINK_FIGURES_H
