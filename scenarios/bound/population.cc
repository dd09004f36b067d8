// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/population.h"

namespace weir
{

const char*
ToString(Population population)
{
    switch (population)
    {
    case Population::LargerGroups:
        return "larger groups";
    case Population::OtherFabrics:
        return "more oversubscription";
    case Population::OtherMachines:
        return "other link speeds";
    default:
        return "calibrated";
    }
}

} // namespace weir
