// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-rendezvous.h"

#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** Whether two ranks issue the same communication; a send matches its receive. */
bool
IsSame(const StepOp& a, const StepOp& b)
{
    if (a.bytes != b.bytes)
    {
        return false;
    }
    if (a.kind == StepOpKind::Collective)
    {
        return b.kind == StepOpKind::Collective && a.collective == b.collective &&
               a.root == b.root && a.traffic == b.traffic;
    }
    return b.kind == (a.kind == StepOpKind::Send ? StepOpKind::Recv : StepOpKind::Send);
}

} // namespace

GroupRendezvous::GroupRendezvous(const StepGraph& graph, const RankFold& fold)
    : m_graph(graph),
      m_fold(fold),
      m_classes(fold.groups.Lists())
{
    for (const auto& slots : fold.slots)
    {
        m_firstSlot.push_back(static_cast<uint32_t>(m_slots.size()));
        for (uint32_t groupClass : slots)
        {
            m_slots.push_back({groupClass, 0});
        }
    }
}

uint32_t
GroupRendezvous::NewRendezvous(uint32_t classIndex, const StepOp& op, Time now)
{
    GroupClass& groupClass = m_classes[classIndex];
    if (groupClass.free.empty())
    {
        Rendezvous rendezvous;
        rendezvous.groupClass = classIndex;
        rendezvous.size = m_fold.arrivals[classIndex];
        rendezvous.firstArrived = static_cast<uint32_t>(m_arrived.size());
        m_arrived.resize(m_arrived.size() + rendezvous.size);
        groupClass.free.push_back(static_cast<uint32_t>(m_rendezvous.size()));
        m_rendezvous.push_back(rendezvous);
    }
    const uint32_t id = groupClass.free.back();
    groupClass.free.pop_back();
    Rendezvous& rendezvous = m_rendezvous[id];
    rendezvous.op = &op;
    rendezvous.firstArrival = now;
    rendezvous.arrived = 0;
    rendezvous.ended = false;
    return id;
}

uint32_t
GroupRendezvous::Arrive(uint32_t actor, uint32_t key, const StepOp& op, Time now)
{
    Slot& slot = m_slots[m_firstSlot[actor] + op.group];
    GroupClass& groupClass = m_classes[slot.groupClass];
    const uint32_t ahead = slot.issued++ - groupClass.ended;
    if (ahead == 0 && groupClass.current == NONE)
    {
        groupClass.current = NewRendezvous(slot.groupClass, op, now);
    }
    else if (ahead > groupClass.behind.size())
    {
        groupClass.behind.push_back(NewRendezvous(slot.groupClass, op, now));
    }
    const uint32_t id = ahead == 0 ? groupClass.current : groupClass.behind[ahead - 1];
    Rendezvous& rendezvous = m_rendezvous[id];
    if (rendezvous.arrived > 0 && !IsSame(*rendezvous.op, op))
    {
        FailToMatch(actor, rendezvous, op);
    }
    m_arrived[rendezvous.firstArrived + rendezvous.arrived++] = key;
    return id;
}

void
GroupRendezvous::End(uint32_t id)
{
    m_rendezvous[id].ended = true;
    GroupClass& groupClass = m_classes[m_rendezvous[id].groupClass];
    while (groupClass.current != NONE && m_rendezvous[groupClass.current].ended)
    {
        groupClass.ended++;
        groupClass.free.push_back(groupClass.current);
        groupClass.current = NONE;
        if (!groupClass.behind.empty())
        {
            groupClass.current = groupClass.behind.front();
            groupClass.behind.erase(groupClass.behind.begin());
        }
    }
}

void
GroupRendezvous::FailToMatch(uint32_t actor, const Rendezvous& rendezvous, const StepOp& op) const
{
    throw std::invalid_argument(
        "step graph: rank " + std::to_string(*m_fold.ranks.begin(actor)) + " joins group " +
        std::to_string(*m_fold.groups.begin(rendezvous.groupClass)) + " with '" +
        m_graph.labels[op.label] + "' of " + std::to_string(op.bytes.Count()) +
        " bytes, expected that of the other ranks, '" + m_graph.labels[rendezvous.op->label] +
        "' of " + std::to_string(rendezvous.op->bytes.Count()) + " bytes");
}

} // namespace weir
