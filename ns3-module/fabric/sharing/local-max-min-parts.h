// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LOCAL_MAX_MIN_PARTS_H
#define WEIR_FABRIC_LOCAL_MAX_MIN_PARTS_H

#include "fabric/sharing/max-min-system.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * What LocalMaxMin keeps of variables and links; how it uses it is told in local-max-min.h.
 */
namespace weir::maxmin
{

/** A variable, and what a solve finds for it. */
struct LocalVariable : Variable
{
    uint32_t held{0xffffffff}; //!< the link that its level comes from, when it shares links
    uint32_t joined{0};        //!< the solve that set it anew last
    uint32_t stopped{0};       //!< the filling that it stopped in last
    double next{0};            //!< level that is being found
};

struct LocalLink
{
    double capacity{0};
    uint32_t filling{0}; //!< the filling that last looked at it
    uint32_t place{0};   //!< among the open links, then
    std::vector<Member> members;
};

/** What the System under LocalMaxMin is made of. */
struct LocalParts
{
    using Variable = LocalVariable;
    using Step = maxmin::Step;
    using Link = LocalLink;
};

/** A link in a filling. */
struct OpenLink
{
    uint32_t link;
    uint32_t rises;  //!< members that still rise
    double left;     //!< capacity that others leave
    double rising;   //!< weight of the members that still rise
    double heldAt;   //!< the level at which it stopped members; infinite: it stopped none
    double highest;  //!< level of those set anew on it
    double capacity; //!< of the link
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_LOCAL_MAX_MIN_PARTS_H
