// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-meetings.h"

#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** Whether two ranks mean the same communication; a send and its receive do. */
bool
IsSame(const StepOp& a, const StepOp& b)
{
    if (a.bytes != b.bytes)
    {
        return false;
    }
    if (a.kind == StepOpKind::Collective)
    {
        return b.kind == StepOpKind::Collective && a.collective == b.collective;
    }
    return b.kind == (a.kind == StepOpKind::Send ? StepOpKind::Recv : StepOpKind::Send);
}

} // namespace

GroupMeetings::GroupMeetings(const StepGraph& graph)
    : m_graph(graph),
      m_groups(graph.groups.size())
{
    for (const auto& slots : graph.rankGroups)
    {
        m_firstSlot.push_back(static_cast<uint32_t>(m_slots.size()));
        for (uint32_t group : slots)
        {
            m_slots.push_back({group, 0});
        }
    }
}

uint32_t
GroupMeetings::NewMeeting(uint32_t groupIndex, const StepOp& op, Time now)
{
    Group& group = m_groups[groupIndex];
    if (group.free.empty())
    {
        Meeting meeting;
        meeting.group = groupIndex;
        meeting.size = static_cast<uint32_t>(m_graph.groups[groupIndex].size());
        meeting.firstArrived = static_cast<uint32_t>(m_arrived.size());
        m_arrived.resize(m_arrived.size() + meeting.size);
        group.free.push_back(static_cast<uint32_t>(m_meetings.size()));
        m_meetings.push_back(meeting);
    }
    const uint32_t id = group.free.back();
    group.free.pop_back();
    Meeting& meeting = m_meetings[id];
    meeting.op = &op;
    meeting.firstArrival = now;
    meeting.arrived = 0;
    meeting.ended = false;
    return id;
}

uint32_t
GroupMeetings::Arrive(uint32_t rank, uint32_t key, const StepOp& op, Time now)
{
    Slot& slot = m_slots[m_firstSlot[rank] + op.group];
    Group& group = m_groups[slot.group];
    const uint32_t ahead = slot.issued++ - group.ended;
    if (ahead == 0 && group.current == NONE)
    {
        group.current = NewMeeting(slot.group, op, now);
    }
    else if (ahead > group.behind.size())
    {
        group.behind.push_back(NewMeeting(slot.group, op, now));
    }
    const uint32_t id = ahead == 0 ? group.current : group.behind[ahead - 1];
    Meeting& meeting = m_meetings[id];
    if (meeting.arrived > 0 && !IsSame(*meeting.op, op))
    {
        FailToMatch(rank, meeting, op);
    }
    m_arrived[meeting.firstArrived + meeting.arrived++] = key;
    return id;
}

void
GroupMeetings::End(uint32_t id)
{
    m_meetings[id].ended = true;
    Group& group = m_groups[m_meetings[id].group];
    while (group.current != NONE && m_meetings[group.current].ended)
    {
        group.ended++;
        group.free.push_back(group.current);
        group.current = NONE;
        if (!group.behind.empty())
        {
            group.current = group.behind.front();
            group.behind.erase(group.behind.begin());
        }
    }
}

void
GroupMeetings::FailToMatch(uint32_t rank, const Meeting& meeting, const StepOp& op) const
{
    throw std::invalid_argument("step graph: rank " + std::to_string(rank) + " comes to group " +
                                std::to_string(meeting.group) + " with '" +
                                m_graph.labels[op.label] + "' of " +
                                std::to_string(op.bytes.Count()) + " bytes, where others have '" +
                                m_graph.labels[meeting.op->label] + "' of " +
                                std::to_string(meeting.op->bytes.Count()) + " bytes");
}

} // namespace weir
