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
        return b.kind == StepOpKind::Collective && a.collective == b.collective &&
               a.root == b.root && a.traffic == b.traffic;
    }
    return b.kind == (a.kind == StepOpKind::Send ? StepOpKind::Recv : StepOpKind::Send);
}

} // namespace

GroupMeetings::GroupMeetings(const StepGraph& graph, const RankFold& fold)
    : m_graph(graph),
      m_fold(fold),
      m_places(fold.groups.Lists())
{
    for (const auto& slots : fold.slots)
    {
        m_firstSlot.push_back(static_cast<uint32_t>(m_slots.size()));
        for (uint32_t place : slots)
        {
            m_slots.push_back({place, 0});
        }
    }
}

uint32_t
GroupMeetings::NewMeeting(uint32_t placeIndex, const StepOp& op, Time now)
{
    Place& place = m_places[placeIndex];
    if (place.free.empty())
    {
        Meeting meeting;
        meeting.place = placeIndex;
        meeting.size = m_fold.arrivals[placeIndex];
        meeting.firstArrived = static_cast<uint32_t>(m_arrived.size());
        m_arrived.resize(m_arrived.size() + meeting.size);
        place.free.push_back(static_cast<uint32_t>(m_meetings.size()));
        m_meetings.push_back(meeting);
    }
    const uint32_t id = place.free.back();
    place.free.pop_back();
    Meeting& meeting = m_meetings[id];
    meeting.op = &op;
    meeting.firstArrival = now;
    meeting.arrived = 0;
    meeting.ended = false;
    return id;
}

uint32_t
GroupMeetings::Arrive(uint32_t actor, uint32_t key, const StepOp& op, Time now)
{
    Slot& slot = m_slots[m_firstSlot[actor] + op.group];
    Place& place = m_places[slot.place];
    const uint32_t ahead = slot.issued++ - place.ended;
    if (ahead == 0 && place.current == NONE)
    {
        place.current = NewMeeting(slot.place, op, now);
    }
    else if (ahead > place.behind.size())
    {
        place.behind.push_back(NewMeeting(slot.place, op, now));
    }
    const uint32_t id = ahead == 0 ? place.current : place.behind[ahead - 1];
    Meeting& meeting = m_meetings[id];
    if (meeting.arrived > 0 && !IsSame(*meeting.op, op))
    {
        FailToMatch(actor, meeting, op);
    }
    m_arrived[meeting.firstArrived + meeting.arrived++] = key;
    return id;
}

void
GroupMeetings::End(uint32_t id)
{
    m_meetings[id].ended = true;
    Place& place = m_places[m_meetings[id].place];
    while (place.current != NONE && m_meetings[place.current].ended)
    {
        place.ended++;
        place.free.push_back(place.current);
        place.current = NONE;
        if (!place.behind.empty())
        {
            place.current = place.behind.front();
            place.behind.erase(place.behind.begin());
        }
    }
}

void
GroupMeetings::FailToMatch(uint32_t actor, const Meeting& meeting, const StepOp& op) const
{
    throw std::invalid_argument(
        "step graph: rank " + std::to_string(*m_fold.ranks.begin(actor)) + " comes to group " +
        std::to_string(*m_fold.groups.begin(meeting.place)) + " with '" + m_graph.labels[op.label] +
        "' of " + std::to_string(op.bytes.Count()) + " bytes, where others have '" +
        m_graph.labels[meeting.op->label] + "' of " + std::to_string(meeting.op->bytes.Count()) +
        " bytes");
}

} // namespace weir
