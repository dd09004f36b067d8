// SPDX-License-Identifier: GPL-2.0-only
#include "link-figures.h"

#include "weir-units.h"

namespace ns3
{

void
ReadLink(const weir::LinkProfile& profile, DataRate& rate, double& efficiency, Time& latency)
{
    rate = ToNs3(profile.rawRate);
    efficiency = profile.encoding * profile.framing * profile.measured;
    latency = ToNs3(profile.latency);
}

void
WriteLink(weir::LinkProfile& profile, DataRate rate, double efficiency, Time latency)
{
    if (rate != ToNs3(profile.rawRate))
    {
        profile.rawRate = ToWeir(rate);
    }
    if (efficiency != profile.encoding * profile.framing * profile.measured)
    {
        profile.encoding = 1;
        profile.framing = efficiency;
        profile.measured = 1;
    }
    if (latency != ToNs3(profile.latency))
    {
        profile.latency = ToWeir(latency);
    }
}

} // namespace ns3
