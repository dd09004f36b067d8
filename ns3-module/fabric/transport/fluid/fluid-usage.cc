// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include <cmath>
#include <stdexcept>

namespace weir
{

/** The rate on a link (bytes/s). */
double
FluidTransport::LoadOf(uint32_t link) const
{
    const uint32_t alone = m_solver.UncontendedOn(link);
    if (alone == NONE && !std::isinf(m_solver.Capacity(link)))
    {
        return m_solver.Load(link);
    }
    double load = 0;
    m_solver.ForEachOn(link, [&](uint32_t b, double multiplicity) {
        const double weight = multiplicity * m_bundles[b].weight * m_bundles[b].moving;
        load += weight > 0 ? weight * m_solver.Level(b) : 0;
    });
    return load;
}

/** Notes the rate of a shared link from now on. */
void
FluidTransport::MeterLink(uint32_t link)
{
    LinkMeter& meter = m_meters[link];
    if (m_solver.IsSlack(link) && meter.Rate() > 0 && !meter.IsFull())
    {
        return; // busy and not full: which rate it has makes no difference
    }
    const double level = m_solver.LinkLevel(link);
    if (!m_observers.WantLinkRates() && meter.IsFull() && level > 0 && !std::isinf(level))
    {
        return; // still full: who has a level there is held by it
    }
    // While a bundle is alone on a link, the bundle keeps the time.
    const double rate = m_solver.UncontendedOn(link) == NONE ? LoadOf(link) : 0;
    const bool full = LinkMeter::Saturates(rate, m_solver.Capacity(link));
    if (rate == meter.Rate() && full == meter.IsFull())
    {
        return;
    }
    const bool changed = rate != meter.Rate();
    meter.SetRate(rate, m_solver.Capacity(link), m_now);
    if (m_observers.WantLinkRates() && changed && m_solver.UncontendedOn(link) == NONE)
    {
        m_observers.OnLinkRate(LinkId(link), Rate::BytesPerSecond(rate), m_now);
    }
}

/** Notes the rate that a bundle alone on its links has from now on. */
void
FluidTransport::MeterAlone(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    const bool alone = m_solver.IsUncontended(b);
    const double rate =
        alone && bundle.moving > 0 ? bundle.moving * bundle.weight * m_solver.Level(b) : 0;
    if (rate != bundle.aloneRate || !alone)
    {
        if (!alone || (rate > 0 && rate != bundle.aloneFull))
        {
            AddAloneTime(bundle);
            bundle.aloneFull = rate;
        }
        else if (bundle.aloneRate > 0)
        {
            bundle.aloneBusy += m_now - bundle.aloneSince;
        }
        const bool wasAlone = bundle.aloneRate > 0;
        bundle.aloneSince = m_now;
        bundle.aloneRate = rate;
        if (m_observers.WantLinkRates() && (alone || wasAlone))
        {
            TellAloneRate(b);
        }
    }
    if (!m_solver.IsAttached(b))
    {
        AddCarried(b);
    }
}

/**
 * Tells the rate of the links that a bundle has to itself, or that those are free which it had.
 * Those that others have now are told by MeterLink, or by who is alone there.
 */
void
FluidTransport::TellAloneRate(uint32_t b)
{
    const Bundle& bundle = m_bundles[b];
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        const uint32_t link = l.link.Index();
        if (m_solver.UncontendedOn(link) == b || LoadOf(link) == 0)
        {
            const double rate = l.multiplicity * bundle.aloneRate;
            m_observers.OnLinkRate(l.link, Rate::BytesPerSecond(rate), m_now);
        }
    }
}

/** Adds the time for which a bundle was alone on its links to their meters. */
void
FluidTransport::AddAloneTime(Bundle& bundle)
{
    if (bundle.aloneRate > 0)
    {
        bundle.aloneBusy += m_now - bundle.aloneSince;
        bundle.aloneSince = m_now;
    }
    if (bundle.aloneBusy == Time())
    {
        return;
    }
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        const double rate = l.multiplicity * bundle.aloneFull;
        m_meters[l.link.Index()].AddTime(
            bundle.aloneBusy, LinkMeter::Saturates(rate, m_solver.Capacity(l.link.Index())));
    }
    bundle.aloneBusy = Time();
}

/** Adds the bytes that a bundle has moved to the meters of its links. */
void
FluidTransport::AddCarried(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    if (bundle.carried == 0)
    {
        return;
    }
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        m_meters[l.link.Index()].AddBytes(bundle.carried * l.multiplicity);
    }
    bundle.carried = 0;
}

Rate
FluidTransport::CurrentLinkRate(LinkId link)
{
    Settle();
    return Rate::BytesPerSecond(LoadOf(link.Index()));
}

LinkUsage
FluidTransport::GetLinkUsage(LinkId link)
{
    Settle();
    const uint32_t l = link.Index();
    const LinkMeter& meter = m_meters[l];
    LinkUsage usage;
    usage.busy = meter.Busy(m_now);
    usage.saturated = meter.Saturated(m_now);
    int64_t whole = meter.Bytes();
    double moving = 0;
    m_solver.ForEachOn(l, [&](uint32_t b, double multiplicity) {
        const Bundle& bundle = m_bundles[b];
        whole += bundle.carried * static_cast<int64_t>(multiplicity);
        double ofBundle = 0;
        PairingHeap<FlowItems>({&m_flows}).ForEach(bundle.first, [&](uint32_t t) {
            ofBundle += static_cast<double>(m_flows[t].bytes) - LeftOf(m_flows[t]);
        });
        moving += ofBundle * multiplicity;
        if (m_solver.IsUncontended(b))
        {
            const Time busy = bundle.aloneRate > 0 ? bundle.aloneBusy + (m_now - bundle.aloneSince)
                                                   : bundle.aloneBusy;
            const double full = multiplicity * bundle.aloneFull;
            usage.busy += busy;
            usage.saturated += LinkMeter::Saturates(full, m_solver.Capacity(l)) ? busy : Time();
        }
    });
    usage.bytes = static_cast<double>(whole) + moving;
    return usage;
}

} // namespace weir
