// SPDX-License-Identifier: GPL-2.0-only
#include "weir-units.h"

#include "ns3/abort.h"

#include <cmath>
#include <limits>

namespace ns3
{

weir::Time
ToWeir(Time time)
{
    NS_ABORT_MSG_IF(time.GetSeconds() > std::numeric_limits<int64_t>::max() * 1e-12,
                    "The simulation has passed 106 days, the maximum of 64-bit picoseconds");
    return weir::Time::Picoseconds(time.GetPicoSeconds());
}

weir::Rate
ToWeir(DataRate rate)
{
    return weir::Rate::BitsPerSecond(static_cast<double>(rate.GetBitRate()));
}

Time
ToNs3(weir::Time time)
{
    const int64_t picoseconds = time.ToPicoseconds();
    const Time below = PicoSeconds(picoseconds);
    return below.GetPicoSeconds() < picoseconds ? below + TimeStep(1) : below;
}

DataRate
ToNs3(weir::Rate rate)
{
    return DataRate(static_cast<uint64_t>(std::llround(rate.ToBytesPerSecond() * 8)));
}

} // namespace ns3
