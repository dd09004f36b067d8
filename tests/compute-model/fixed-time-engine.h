// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_FIXED_TIME_ENGINE_H
#define WEIR_TESTS_COMPUTE_MODEL_FIXED_TIME_ENGINE_H

#include "collectives/engines/collective-engine.h"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace weir
{

/** A CollectiveEngine whose collectives have durations given by a function; zero by default. */
class FixedTimeEngine : public CollectiveEngine
{
  public:
    using Duration = std::function<Time(const CollectiveCall&)>;

    explicit FixedTimeEngine(Duration duration = [](const CollectiveCall&) { return Time(); })
        : m_duration(std::move(duration))
    {
    }

    void Start(const CollectiveCall& call,
               CollectiveClient* client,
               uint64_t token,
               Time now) override
    {
        m_starts.push_back(now);
        m_calls.push_back(call);
        m_active.emplace(std::make_pair((now + m_duration(call)).ToPicoseconds(), m_starts.size()),
                         std::make_pair(client, token));
    }

    Time NextEventTime() override
    {
        return m_active.empty() ? Time::Infinite()
                                : Time::Picoseconds(m_active.begin()->first.first);
    }

    void AdvanceTo(Time now) override
    {
        while (NextEventTime() <= now && !m_active.empty())
        {
            const auto [client, token] = m_active.begin()->second;
            m_active.erase(m_active.begin());
            client->OnCollectiveDone(token, now);
        }
    }

    const std::vector<Time>& Starts() const
    {
        return m_starts;
    }

    const std::vector<CollectiveCall>& Calls() const
    {
        return m_calls;
    }

  private:
    Duration m_duration;
    std::map<std::pair<int64_t, std::size_t>, std::pair<CollectiveClient*, uint64_t>> m_active;
    std::vector<Time> m_starts;
    std::vector<CollectiveCall> m_calls;
};

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_FIXED_TIME_ENGINE_H
