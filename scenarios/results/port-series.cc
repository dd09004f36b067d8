// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/port-series.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

PortSeries::PortSeries(std::size_t links, Time binWidth, std::size_t maxBins)
    : m_width(binWidth.ToPicoseconds()),
      m_maxBins(maxBins),
      m_ports(links)
{
    if (binWidth <= Time() || binWidth.IsInfinite())
    {
        throw std::invalid_argument("PortSeries: the bin width must be positive");
    }
}

void
PortSeries::OnQueue(LinkId link, unsigned trafficClass, int64_t bytes, Time now)
{
    if (trafficClass == 0)
    {
        return; // control packets have strict priority and occupy no buffer
    }
    Port& port = SettledPort(link, now);
    port.bytes += bytes - port.ofClass[trafficClass];
    port.ofClass[trafficClass] = bytes;
    if (port.bytes > 0)
    {
        Bin& bin = BinAt(port, now.ToPicoseconds());
        bin.maxQueued = std::max(bin.maxQueued, port.bytes);
    }
}

void
PortSeries::OnMark(LinkId link, unsigned, Time now)
{
    Port& port = SettledPort(link, now);
    BinAt(port, now.ToPicoseconds()).marks++;
}

void
PortSeries::OnDrop(LinkId link, unsigned, uint32_t, Time now)
{
    Port& port = SettledPort(link, now);
    BinAt(port, now.ToPicoseconds()).drops++;
}

void
PortSeries::OnPause(LinkId link, unsigned trafficClass, bool isPaused, Time now)
{
    Port& port = SettledPort(link, now);
    const uint8_t before = port.paused;
    const auto bit = static_cast<uint8_t>(1u << trafficClass);
    port.paused = static_cast<uint8_t>(isPaused ? before | bit : before & ~bit);
    if (before == 0 && port.paused != 0)
    {
        port.pausedSince = now;
    }
    else if (before != 0 && port.paused == 0)
    {
        EndPause(link, now);
    }
}

void
PortSeries::OnCreditWait(LinkId link, unsigned trafficClass, bool isWaiting, Time now)
{
    Port& port = SettledPort(link, now);
    const auto bit = static_cast<uint8_t>(1u << trafficClass);
    port.uncredited =
        static_cast<uint8_t>(isWaiting ? port.uncredited | bit : port.uncredited & ~bit);
}

void
PortSeries::EndPause(LinkId link, Time now)
{
    if (m_pauses.size() == MAX_PAUSES)
    {
        m_pausesLeftOut++;
        return;
    }
    m_pauses.push_back({link, m_ports[link.Index()].pausedSince, now});
}

/** The bin of a time, which is in the last bin of the port or later. */
PortSeries::Bin&
PortSeries::BinAt(Port& port, int64_t time)
{
    while (time / m_width > std::numeric_limits<uint32_t>::max()) // records number bins in 32 bits
    {
        DoubleWidth();
    }
    if (port.bins.empty() || port.bins.back().number < time / m_width)
    {
        if (m_bins >= m_maxBins)
        {
            Widen();
            return BinAt(port, time);
        }
        m_bins++;
        port.bins.push_back({time / m_width});
    }
    return port.bins.back();
}

/**
 * Doubles the bin width until at most half of the maximum number of bins are left, or no port has
 * more than one.
 */
void
PortSeries::Widen()
{
    bool hasSeveral = true;
    while (m_bins > m_maxBins / 2 && hasSeveral &&
           m_width <= std::numeric_limits<int64_t>::max() / 2)
    {
        hasSeveral = DoubleWidth();
    }
    m_maxBins = std::max(m_maxBins, 2 * m_bins); // for ports that have one bin each
}

/** Doubles the bin width and merges pairs of bins. @return whether a port still has several bins */
bool
PortSeries::DoubleWidth()
{
    m_width *= 2;
    m_bins = 0;
    bool hasSeveral = false;
    for (Port& port : m_ports)
    {
        std::size_t kept = 0;
        for (const Bin& bin : port.bins)
        {
            if (kept == 0 || port.bins[kept - 1].number != bin.number / 2)
            {
                port.bins[kept] = bin;
                port.bins[kept++].number /= 2;
                continue;
            }
            Bin& joined = port.bins[kept - 1];
            joined.queued += bin.queued;
            joined.maxQueued = std::max(joined.maxQueued, bin.maxQueued);
            joined.waiting += bin.waiting;
            joined.paused += bin.paused;
            joined.creditWait += bin.creditWait;
            joined.waitingHeld += bin.waitingHeld;
            joined.marks += bin.marks;
            joined.drops += bin.drops;
        }
        port.bins.erase(port.bins.begin() + static_cast<std::ptrdiff_t>(kept), port.bins.end());
        m_bins += kept;
        hasSeveral = hasSeveral || kept > 1;
    }
    return hasSeveral;
}

PortSeries::Port&
PortSeries::SettledPort(LinkId link, Time now)
{
    Port& port = m_ports[link.Index()];
    Settle(port, now.ToPicoseconds());
    return port;
}

void
PortSeries::Settle(Port& port, int64_t now)
{
    while (port.since < now)
    {
        const bool isHeld = port.paused != 0 || port.uncredited != 0;
        if (port.bytes == 0 && !isHeld)
        {
            port.since = now;
            return;
        }
        Bin& bin = BinAt(port, port.since); // may increase the bin width
        const int64_t until = std::min(now, (port.since / m_width + 1) * m_width);
        const int64_t span = until - port.since;
        bin.maxQueued = std::max(bin.maxQueued, port.bytes);
        bin.queued += static_cast<double>(port.bytes) * static_cast<double>(span);
        bin.waiting += port.bytes > 0 ? span : 0;
        bin.paused += port.paused != 0 ? span : 0;
        bin.creditWait += port.uncredited != 0 ? span : 0;
        bin.waitingHeld += port.bytes > 0 && isHeld ? span : 0;
        port.since = until;
    }
}

std::vector<uint32_t>
PortSeries::Busiest() const
{
    std::vector<std::pair<double, uint32_t>> queued;
    std::vector<std::pair<double, uint32_t>> paused;
    for (uint32_t link = 0; link < m_ports.size(); link++)
    {
        double queue = 0;
        double pause = 0;
        double lost = 0;
        for (const Bin& bin : m_ports[link].bins)
        {
            queue += bin.queued;
            pause += static_cast<double>(bin.paused + bin.creditWait);
            lost += bin.drops;
        }
        if (queue > 0 || lost > 0)
        {
            queued.emplace_back(-queue, link);
        }
        if (pause > 0)
        {
            paused.emplace_back(-pause, link);
        }
    }
    std::vector<uint32_t> links;
    for (auto* list : {&queued, &paused})
    {
        std::sort(list->begin(), list->end());
        list->resize(std::min(list->size(), MAX_PORTS));
        for (const auto& [value, link] : *list)
        {
            links.push_back(link);
        }
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
}

void
PortSeries::Finish(Time now, const RecordSinks& sinks)
{
    const int64_t end = now.ToPicoseconds();
    for (uint32_t link = 0; link < m_ports.size(); link++)
    {
        Settle(m_ports[link], end);
        if (m_ports[link].paused != 0)
        {
            EndPause(LinkId(link), now);
        }
    }
    const std::vector<uint32_t> links = Busiest();
    m_bins = 0;
    for (uint32_t link = 0; link < m_ports.size(); link++)
    {
        if (!std::binary_search(links.begin(), links.end(), link))
        {
            m_ports[link].bins.clear();
        }
        m_bins += m_ports[link].bins.size();
    }
    m_maxBins = MAX_REPORTED_BINS;
    if (m_bins > m_maxBins)
    {
        Widen();
    }
    for (const uint32_t link : links)
    {
        for (const Bin& bin : m_ports[link].bins)
        {
            const int64_t start = bin.number * m_width;
            const int64_t length = std::max<int64_t>(1, std::min(m_width, end - start));
            PortBinRecord record;
            record.link = LinkId(link);
            record.bin = static_cast<uint32_t>(bin.number);
            record.width = Time::Picoseconds(m_width);
            record.meanQueued = bin.queued / static_cast<double>(length);
            record.maxQueued = Bytes(bin.maxQueued);
            record.waiting = Time::Picoseconds(bin.waiting);
            record.paused = Time::Picoseconds(bin.paused);
            record.creditWait = Time::Picoseconds(bin.creditWait);
            record.waitingHeld = Time::Picoseconds(bin.waitingHeld);
            record.marks = bin.marks;
            record.drops = bin.drops;
            sinks.Tell(&RecordSink::OnPortBin, record);
        }
    }
    std::stable_sort(m_pauses.begin(), m_pauses.end(), [](const auto& a, const auto& b) {
        return a.link < b.link;
    });
    uint64_t leftOut = m_pausesLeftOut;
    for (const PauseRecord& pause : m_pauses)
    {
        if (std::binary_search(links.begin(), links.end(), pause.link.Index()))
        {
            sinks.Tell(&RecordSink::OnPause, pause);
        }
        else
        {
            leftOut++;
        }
    }
    sinks.Tell(&RecordSink::OnPausesLeftOut, leftOut);
}

} // namespace weir
