// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/profile-check.h"

#include <stdexcept>

namespace weir
{

namespace
{

void
CheckEfficiency(double value, const std::string& field)
{
    if (!(value > 0 && value <= 1))
    {
        throw std::invalid_argument(field + ": " + std::to_string(value) +
                                    ", expected more than 0 and at most 1");
    }
}

} // namespace

void
CheckProfile(const LinkProfile& profile, const std::string& field)
{
    if (!(profile.rawRate > Rate()) || profile.rawRate.IsInfinite())
    {
        throw std::invalid_argument(field +
                                    ".rawRate: " + std::to_string(profile.rawRate.ToGBps()) +
                                    " GB/s, expected a positive rate");
    }
    CheckEfficiency(profile.encoding, field + ".encoding");
    CheckEfficiency(profile.framing, field + ".framing");
    CheckEfficiency(profile.measured, field + ".measured");
    if (profile.latency < Time() || profile.latency.IsInfinite())
    {
        throw std::invalid_argument(field + ".latency: expected a finite time, zero or more");
    }
}

} // namespace weir
