// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/link-series.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

LinkSeries::LinkSeries(std::size_t links, Time binWidth, RecordSink& sink)
    : m_binWidth(binWidth),
      m_sink(sink),
      m_entries(links)
{
    if (binWidth <= Time() || binWidth.IsInfinite())
    {
        throw std::invalid_argument("LinkSeries: the bin width must be positive");
    }
}

void
LinkSeries::SetRate(LinkId link, Rate rate, Time now)
{
    Settle(link.Index(), now);
    m_entries[link.Index()].rate = rate;
}

void
LinkSeries::OnTransmit(LinkId link, unsigned, uint32_t bytes, Time now, Time end)
{
    Settle(link.Index(), now);
    if (end > now)
    {
        m_entries[link.Index()].packetRate = Rate::BytesPerSecond(bytes / (end - now).ToSeconds());
        m_entries[link.Index()].packetEnd = end;
    }
}

void
LinkSeries::Finish(Time now)
{
    for (std::size_t link = 0; link < m_entries.size(); link++)
    {
        Settle(link, now);
        auto& entry = m_entries[link];
        if (entry.bytes > 0)
        {
            const int64_t bin = entry.since.ToPicoseconds() / m_binWidth.ToPicoseconds();
            m_sink.OnLinkBin({LinkId(link), bin, entry.bytes});
            entry.bytes = 0;
        }
    }
}

void
LinkSeries::Settle(std::size_t link, Time now)
{
    const int64_t width = m_binWidth.ToPicoseconds();
    auto& entry = m_entries[link];
    while (entry.since < now)
    {
        const int64_t bin = entry.since.ToPicoseconds() / width;
        const Time binEnd = Time::Picoseconds((bin + 1) * width);
        const bool hasPacket = entry.since < entry.packetEnd;
        const Time until = std::min({now, binEnd, hasPacket ? entry.packetEnd : binEnd});
        const double rate =
            entry.rate.ToBytesPerSecond() + (hasPacket ? entry.packetRate.ToBytesPerSecond() : 0);
        entry.bytes += rate * (until - entry.since).ToSeconds();
        entry.since = until;
        if (until == binEnd && entry.bytes > 0)
        {
            m_sink.OnLinkBin({LinkId(link), bin, entry.bytes});
            entry.bytes = 0;
        }
        if (entry.rate == Rate() && entry.bytes == 0 && entry.packetEnd <= entry.since)
        {
            entry.since = now; // nothing to account for until the rate changes
        }
    }
}

} // namespace weir
