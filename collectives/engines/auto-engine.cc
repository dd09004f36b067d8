// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/auto-engine.h"

#include "fabric/enum-names.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir
{

const char*
ToString(FidelityReason reason)
{
    static constexpr EnumName<FidelityReason> NAMES[]{
        {FidelityReason::WithinTolerance, "within tolerance"},
        {FidelityReason::Bound, "bound"},
        {FidelityReason::Contention, "contention"},
    };
    return NameIn(NAMES, reason);
}

AutoEngine::AutoEngine(Planner& planner, const ShortcutJudge& judge, EngineOf engineOf)
    : m_planner(planner),
      m_judge(judge),
      m_engineOf(std::move(engineOf)),
      m_plans(planner),
      m_classes(planner)
{
}

void
AutoEngine::Start(const CollectiveCall& call, CollectiveClient* client, uint64_t token, Time now)
{
    m_begin = m_begin.value_or(now);
    Known& known = Remember(m_plans.Plan(call));
    const FidelityChoice choice = Choose(known, now);
    known.calls[choice]++;
    const uint32_t slot = m_running.Take();
    m_running[slot] = {client, token, known.callClass, choice.fidelity};
    if (known.callClass != CallClasses::NONE)
    {
        Begin(known.callClass, choice, known.plan->duration);
    }
    m_engineOf(choice.fidelity).Start(call, this, slot, now);
}

void
AutoEngine::OnCollectiveDone(uint64_t token, Time now)
{
    const Running done = m_running[token];
    m_running.Free(static_cast<uint32_t>(token));
    if (done.callClass != CallClasses::NONE && --m_inProgress[done.callClass] == 0)
    {
        m_atStake[done.callClass] = Time();
    }
    m_endedFidelity = done.fidelity;
    if (done.client != nullptr)
    {
        done.client->OnCollectiveDone(done.token, now);
    }
}

/**
 * Assigns a ledger to each set of classes that contend directly or through others, once all classes
 * are added.
 */
void
AutoEngine::Settle()
{
    const auto count = static_cast<uint32_t>(m_classes.Count());
    if (m_ledger.size() == count)
    {
        return;
    }
    m_inProgress.resize(count);
    m_unsure.assign(count, Time());
    m_atStake.assign(count, Time());
    m_ledger.assign(count, CallClasses::NONE);
    for (uint32_t first = 0; first < count; first++)
    {
        std::vector<uint32_t> reached{first};
        while (!reached.empty())
        {
            const uint32_t callClass = reached.back();
            reached.pop_back();
            if (m_ledger[callClass] == CallClasses::NONE)
            {
                m_ledger[callClass] = first;
                const auto& met = m_classes.Met(callClass);
                reached.insert(reached.end(), met.begin(), met.end());
            }
        }
    }
}

void
AutoEngine::Begin(uint32_t callClass, FidelityChoice choice, Time duration)
{
    m_inProgress[callClass]++;
    for (const uint32_t other : m_classes.Met(callClass))
    {
        m_unsure[m_ledger[other]] = m_unsure[m_ledger[other]] + m_atStake[other];
        m_atStake[other] = Time();
    }
    if (choice.fidelity == Fidelity::Stream)
    {
        m_atStake[callClass] = duration;
    }
}

std::optional<FlowOrigin>
AutoEngine::OriginOf(const FlowRequest& request) const
{
    for (const Fidelity fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const auto origin = m_engineOf(fidelity).OriginOf(request);
        if (origin && origin->client == static_cast<const CollectiveClient*>(this))
        {
            const Running& running = m_running[origin->token];
            return FlowOrigin{running.client, running.token};
        }
    }
    return std::nullopt;
}

Time
AutoEngine::NextEventTime()
{
    return Time::Infinite(); // all events are those of the other engines
}

void
AutoEngine::AdvanceTo(Time now)
{
}

std::vector<FidelityUse>
AutoEngine::Uses() const
{
    using Key = std::tuple<CollectiveOp, Algorithm, std::size_t, FidelityChoice>;
    std::map<Key, uint64_t> counts;
    for (const Known& known : m_known)
    {
        const CollectivePlan& plan = *known.plan;
        const std::size_t ranks = m_planner.GetGroup(plan.call.communicator).Size();
        for (const auto& [choice, calls] : known.calls)
        {
            counts[{plan.call.op, plan.algorithm, ranks, choice}] += calls;
        }
    }
    std::vector<FidelityUse> uses;
    for (const auto& [key, calls] : counts)
    {
        const auto& [op, algorithm, ranks, choice] = key;
        uses.push_back({op, algorithm, ranks, choice, calls});
    }
    return uses;
}

FidelityChoice
AutoEngine::ChooseClear(const CollectivePlan& plan, uint32_t callClass)
{
    if (callClass == CallClasses::NONE || m_classes.SlowsItself(callClass))
    {
        return {Fidelity::Flow, FidelityReason::Contention};
    }
    const bool isUncontended = m_classes.Met(callClass).empty();
    if (isUncontended && m_judge.IsGoodEnough(plan, Fidelity::Analytical))
    {
        return {Fidelity::Analytical, FidelityReason::WithinTolerance};
    }
    if (m_judge.IsGoodEnough(plan, Fidelity::Stream))
    {
        return {Fidelity::Stream, FidelityReason::WithinTolerance};
    }
    return {Fidelity::Flow, FidelityReason::Bound};
}

FidelityChoice
AutoEngine::Choose(const Known& known, Time now)
{
    constexpr FidelityChoice CONTENDED{Fidelity::Flow, FidelityReason::Contention};
    if (m_hasOtherLoad)
    {
        return CONTENDED;
    }
    if (known.clear.fidelity == Fidelity::Flow)
    {
        return known.clear;
    }
    const auto& met = m_classes.Met(known.callClass);
    if (met.empty())
    {
        return known.clear;
    }
    const bool isClear = std::none_of(
        met.begin(), met.end(), [&](uint32_t other) { return m_inProgress[other] > 0; });
    const Time unsure = m_unsure[m_ledger[known.callClass]] + known.plan->duration;
    return isClear && unsure <= (now - *m_begin) * m_judge.GetTolerance() ? known.clear : CONTENDED;
}

AutoEngine::Known&
AutoEngine::Remember(const CollectivePlan& plan)
{
    const auto [entry, isNew] = m_index.try_emplace(&plan, m_known.size());
    if (isNew)
    {
        Settle();
        const uint32_t callClass = m_classes.ClassOf(plan);
        m_known.push_back({&plan, callClass, ChooseClear(plan, callClass)});
    }
    return m_known[entry->second];
}

} // namespace weir
