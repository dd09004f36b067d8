// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/saturation-queue.h"

#include <algorithm>

namespace weir::maxmin
{

namespace
{

/**
 * A link without risers must lower its members if its load exceeds the capacity by more than this
 * fraction.
 */
constexpr double OVERFULL = 1e-12;

} // namespace

void
SaturationQueue::TouchFirst(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    l.isTouched = true;
    l.bound = 0;
    l.peak = std::max(l.peak, m_groups.Load(link));
    l.solves++;
    m_tables.touched.push_back(link);
    if (m_order.IsInUse())
    {
        m_order.Enlist(link);
    }
}

double
SaturationQueue::FirstLevel()
{
    while (!m_heap.Empty())
    {
        const uint32_t link = m_heap.TopIndex();
        const double key = KeyOf(link);
        if (key <= m_heap.TopKey())
        {
            return m_heap.TopKey();
        }
        if (key == INFINITE)
        {
            Remove(link);
        }
        else
        {
            Set(link, key);
        }
    }
    return INFINITE;
}

double
SaturationQueue::SaturationOf(uint32_t link) const
{
    const GroupedLink& l = m_tables.links[link];
    if (l.risers == 0)
    {
        return m_groups.Fixed(link) > l.capacity * (1 + OVERFULL) ? l.bound : INFINITE;
    }
    return std::max(l.bound, m_groups.MeetingLevel(link));
}

double
SaturationQueue::KeyOf(uint32_t link) const
{
    const GroupedLink& l = m_tables.links[link];
    const double saturation = SaturationOf(link);
    return l.isOpen || !l.HasGroup() ? saturation : std::min(saturation, l.level);
}

void
SaturationQueue::Update(uint32_t link)
{
    const GroupedLink& l = m_tables.links[link];
    if (IsWalked(link))
    {
        m_order.GoBackTo(link);
    }
    else if (l.capacity < INFINITE &&
             (l.key == INFINITE ||
              m_groups.Fixed(link) + m_groups.Function(link).rising * l.key > l.capacity))
    {
        const double key = KeyOf(link);
        if (key < l.key)
        {
            Set(link, key);
        }
    }
}

void
SaturationQueue::UpdateRaised(uint32_t link, double from)
{
    Touch(link);
    GroupedLink& l = m_tables.links[link];
    l.bound = std::min(l.bound, from);
    const double level = l.key < INFINITE ? l.key : l.level;
    const double rising = l.risers > 0 ? m_groups.Function(link).rising * level : 0;
    if (m_groups.Fixed(link) + rising > l.capacity)
    {
        l.peak = std::max(l.peak, m_groups.Fixed(link));
        Update(link);
    }
}

void
SaturationQueue::UpdateLowered(uint32_t link)
{
    Touch(link);
    const GroupedLink& l = m_tables.links[link];
    if (l.key == INFINITE && l.HasGroup())
    {
        Set(link, l.level);
    }
}

void
SaturationQueue::BeginWalk()
{
    m_heap.Clear();
    for (uint32_t link : m_tables.touched)
    {
        GroupedLink& l = m_tables.links[link];
        const double key = l.key;
        l.key = INFINITE;
        if (key < INFINITE && !IsWalked(link))
        {
            Set(link, key);
        }
    }
}

} // namespace weir::maxmin
