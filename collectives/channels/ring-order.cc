// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/ring-order.h"

#include <algorithm>

namespace weir
{

namespace
{

/** How many hops a search may try for one channel before it takes the channel for impossible. */
constexpr uint32_t SEARCH_BUDGET = 1 << 12;

} // namespace

OrderSearch::OrderSearch(NodeCapacity& node, double speed, Hops hops)
    : m_node(node),
      m_speed(speed),
      m_hops(hops)
{
}

bool
OrderSearch::Find(uint32_t first, uint32_t last, Closing closing)
{
    const auto n = static_cast<uint32_t>(m_node.LocalGpus().size());
    m_last = last;
    m_closing = closing;
    m_budget = SEARCH_BUDGET;
    m_order.assign(1, first);
    m_visited.assign(n, false);
    m_visited[first] = true;
    // Walk away from the last GPU, so that it comes last in ring order.
    m_step = (first + 1) % n == last && n > 2 ? n - 1 : 1;
    return Extend();
}

bool
OrderSearch::Extend()
{
    const std::size_t n = m_node.LocalGpus().size();
    const uint32_t from = m_order.back();
    if (m_order.size() == n)
    {
        return Close();
    }
    const bool isFinal = m_order.size() + 1 == n;
    for (uint32_t to : Candidates(from))
    {
        if (m_budget == 0)
        {
            break;
        }
        if (m_visited[to] || !Allows(from, to) ||
            (m_last != m_order.front() && (to == m_last) != isFinal))
        {
            continue;
        }
        --m_budget;
        const auto& links = m_node.BetweenGpus(from, to);
        if (!m_node.Reserve(links, m_speed))
        {
            continue;
        }
        m_order.push_back(to);
        m_visited[to] = true;
        if (Extend())
        {
            return true;
        }
        m_order.pop_back();
        m_visited[to] = false;
        m_node.Release(links, m_speed);
    }
    return false;
}

bool
OrderSearch::Allows(uint32_t from, uint32_t to) const
{
    return m_hops == Hops::Any || m_node.IsNvLink(from, to) ||
           (m_hops == Hops::NvLinkByGpu && m_node.IsNvLinkByGpu(from, to));
}

bool
OrderSearch::Close()
{
    const uint32_t first = m_order.front();
    const uint32_t last = m_order.back();
    if (m_closing == Closing::None || first == last)
    {
        return true;
    }
    const bool closes =
        m_closing == Closing::Any ? Allows(last, first) : m_node.IsNvLink(last, first);
    return closes && m_node.Reserve(m_node.BetweenGpus(last, first), m_speed);
}

std::vector<uint32_t>
OrderSearch::Candidates(uint32_t from) const
{
    const auto n = static_cast<uint32_t>(m_node.LocalGpus().size());
    std::vector<uint32_t> candidates;
    for (uint32_t i = 1; i < n; ++i)
    {
        candidates.push_back((from + i * m_step) % n);
    }
    const auto left = [&](uint32_t to) {
        const auto& links = m_node.BetweenGpus(from, to);
        return links.size() == 1 ? m_node.Left(links.front()) : 0;
    };
    std::stable_sort(candidates.begin(), candidates.end(), [&](uint32_t a, uint32_t b) {
        return left(a) > left(b);
    });
    return candidates;
}

} // namespace weir
