// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/link-series.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weir
{

LinkSeries::LinkSeries(std::size_t links, Time binWidth, RecordSinks sinks)
    : m_binWidth(binWidth),
      m_sinks(std::move(sinks)),
      m_entries(links)
{
    if (binWidth <= Time() || binWidth.IsInfinite())
    {
        throw std::invalid_argument("LinkSeries: the bin width must be positive");
    }
}

double
LinkSeries::MinBins(const Routing& routing, RouteId route, Bytes bytes, Time width)
{
    double bins = 0;
    for (const PathLink& each : routing.Links(route))
    {
        const Time time = bytes / routing.GetTopology().GetLink(each.link).rate;
        bins += each.multiplicity * (time / width);
    }
    return bins;
}

void
LinkSeries::ExpectFit(double bins, Time width)
{
    if (bins > MAX_BINS)
    {
        throw InputError("link series: found bins of " + FormatTime(width) + ", more than " +
                         std::to_string(MAX_BINS / 1'000'000) +
                         " million with traffic, expected wider ones");
    }
}

void
LinkSeries::SetRate(LinkId link, Rate rate, Time now)
{
    Settle(link.Index(), now);
    m_entries[link.Index()].rate = rate;
}

void
LinkSeries::AddPacket(LinkId link, double bytes, Time now, Time end)
{
    Settle(link.Index(), now);
    Entry& entry = m_entries[link.Index()];
    entry.unsent += bytes;
    entry.sending = end;
}

void
LinkSeries::Finish(Time now)
{
    for (std::size_t link = 0; link < m_entries.size(); link++)
    {
        Settle(link, now);
        auto& entry = m_entries[link];
        entry.bytes += entry.unsent;
        entry.unsent = 0;
        if (entry.bytes > 0)
        {
            const int64_t bin = entry.since.ToPicoseconds() / m_binWidth.ToPicoseconds();
            ReportBin({LinkId(link), bin, entry.bytes});
            entry.bytes = 0;
        }
    }
}

void
LinkSeries::Settle(std::size_t link, Time now)
{
    const int64_t width = m_binWidth.ToPicoseconds();
    auto& entry = m_entries[link];
    if (entry.rate > Rate())
    {
        ExpectFit(static_cast<double>(m_bins) + (now - entry.since) / m_binWidth, m_binWidth);
    }
    while (entry.since < now)
    {
        const int64_t bin = entry.since.ToPicoseconds() / width;
        const Time binEnd = Time::Picoseconds((bin + 1) * width);
        const Time until = std::min(now, binEnd);
        entry.bytes += entry.rate.ToBytesPerSecond() * (until - entry.since).ToSeconds();
        const double sent =
            until < entry.sending
                ? entry.unsent * ((until - entry.since) / (entry.sending - entry.since))
                : entry.unsent;
        entry.unsent -= sent;
        entry.bytes += sent;
        entry.since = until;
        if (until == binEnd && entry.bytes > 0)
        {
            ReportBin({LinkId(link), bin, entry.bytes});
            entry.bytes = 0;
        }
        if (entry.rate == Rate() && entry.unsent == 0 && entry.bytes == 0)
        {
            entry.since = now; // nothing to account for until the rate changes or a packet is sent
        }
    }
}

void
LinkSeries::ReportBin(LinkBinRecord bin)
{
    ExpectFit(static_cast<double>(++m_bins), m_binWidth);
    m_sinks.Tell(&RecordSink::OnLinkBin, bin);
}

} // namespace weir
