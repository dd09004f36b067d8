// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/replay/service-windows.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

/** Bytes in three consecutive windows. */
struct Triple
{
    double first{0};
    double second{0};
    double third{0};

    double Mean() const
    {
        return (first + second + third) / 3;
    }

    /** Standard error of the mean. */
    double Error() const
    {
        const double mean = Mean();
        const auto square = [mean](double each) { return (each - mean) * (each - mean); };
        return std::sqrt((square(first) + square(second) + square(third)) / (3 * 2));
    }

    /** Change from the first to the third window if monotone; else zero. */
    double Drift() const
    {
        const bool isMonotone =
            (first < second && second < third) || (first > second && second > third);
        return isMonotone ? std::abs(third - first) : 0;
    }
};

} // namespace

uint32_t
ServiceWindows::NumberOf(const ConnectionKey& key)
{
    const auto [known, isNew] = m_numbers.emplace(key, static_cast<uint32_t>(m_connections.size()));
    if (isNew)
    {
        m_connections.emplace_back();
    }
    return known->second;
}

void
ServiceWindows::Restart(int64_t now)
{
    m_marks.clear();
    m_begin = now;
    for (Connection& connection : m_connections)
    {
        connection.services.clear();
        connection.next = 0;
        connection.longestIdle = 0;
        connection.free = std::min(connection.free, now); // discards planned service
        connection.maxBytes = 0;
        connection.rate = 0;
    }
}

void
ServiceWindows::Mark(int64_t now, double queued, std::vector<PortCounters> counters)
{
    Snapshot mark;
    mark.time = now;
    mark.queued = queued;
    mark.counters = std::move(counters);
    for (const Connection& connection : m_connections)
    {
        mark.served.push_back(connection.served + connection.open);
    }
    m_marks.push_back(std::move(mark));
    constexpr std::size_t MAX_MARKS = 97; // windows of up to 16 units; then the units double
    if (m_marks.size() == MAX_MARKS)
    {
        for (std::size_t i = 1; 2 * i < MAX_MARKS; i++)
        {
            m_marks[i] = std::move(m_marks[2 * i]);
        }
        m_marks.resize((MAX_MARKS + 1) / 2);
        m_unit *= 2;
    }
}

/** Whether the last three windows of @p width units agree. */
bool
ServiceWindows::Agree(std::size_t width) const
{
    const std::size_t last = m_marks.size() - 1;
    const auto had = [&](std::size_t connection, std::size_t window) {
        const std::vector<double>& to = m_marks[last - (2 - window) * width].served;
        const std::vector<double>& from = m_marks[last - (3 - window) * width].served;
        return (connection < to.size() ? to[connection] : 0) -
               (connection < from.size() ? from[connection] : 0);
    };
    Triple all;
    double error = 0;
    double drift = 0;
    for (std::size_t i = 0; i < m_connections.size(); i++)
    {
        const Triple own{had(i, 0), had(i, 1), had(i, 2)};
        error += own.Error();
        drift += own.Drift();
        all = {all.first + own.first, all.second + own.second, all.third + own.third};
    }
    const double max = m_tolerance * all.Mean();
    constexpr double OF_ALL = 0.1; // stricter for the total, where differences cancel
    return all.Mean() > 0 && all.Drift() <= OF_ALL * max && error <= max && drift <= max &&
           m_marks[last].queued <= max;
}

std::optional<ServiceWindows::Span>
ServiceWindows::Find()
{
    std::size_t width = 1;
    while (6 * width < m_marks.size())
    {
        width *= 2;
    }
    const std::size_t last = m_marks.size() - 1;
    if (m_marks.size() <= 4 * width || last % width != 0 || !Agree(width))
    {
        return std::nullopt;
    }
    const Snapshot& from = m_marks[last - 3 * width];
    const Snapshot& to = m_marks[last];
    Span span;
    span.begin = from.time;
    span.time = to.time - from.time;
    span.counters = from.counters;
    for (std::size_t i = 0; i < m_connections.size(); i++)
    {
        Connection& connection = m_connections[i];
        std::vector<Service>& services = connection.services;
        services.erase(std::remove_if(services.begin(),
                                      services.end(),
                                      [&](const Service& each) { return each.end <= span.begin; }),
                       services.end());
        int64_t time = 0;
        double bytes = 0;
        for (const Service& each : services)
        {
            time += each.time;
            bytes += static_cast<double>(each.bytes);
        }
        // If the recorded services cover less than half of the bytes, a longer flow dominates.
        const double had = to.served[i] - (i < from.served.size() ? from.served[i] : 0);
        if (2 * bytes < had)
        {
            time = span.time;
            bytes = had;
        }
        connection.rate = bytes / static_cast<double>(std::max(int64_t{1}, time));
    }
    return span;
}

} // namespace weir
