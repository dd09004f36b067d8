// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/pipeline-run.h"

#include "collectives/schedule/message-split.h"

#include <algorithm>

namespace weir
{

PipelineRun::PipelineRun(const StreamPipeline& pipeline, Bytes bytes, Rate cap)
    : m_bytes(bytes),
      m_parts(pipeline.parts.size())
{
    const auto headOf = [&](std::size_t part) {
        const Bytes head = RoundedUp(bytes.ToDouble() * pipeline.parts[part].head);
        return std::min(std::max(Bytes(1), head), bytes); // at least 1, so that parts end in order
    };
    for (std::size_t i = 0; i < m_parts.size(); ++i)
    {
        m_parts[i].head = i + 1 < m_parts.size() ? headOf(i + 1) : bytes;
        m_parts[i].free = i > 0 ? bytes - headOf(i) : bytes;
        const Time crossing = i > 0 ? headOf(i) / cap : Time();
        m_parts[i].delay = std::max(Time(), pipeline.parts[i].lead - crossing);
    }
}

void
PipelineRun::Begin(const Send& send)
{
    Go(0, Time(), m_parts.front().delay, send);
}

/** Sends the next piece of a part, or lets it wait. */
void
PipelineRun::Go(uint32_t part, Time now, Time delay, const Send& send)
{
    Part& own = m_parts[part];
    Bytes until = m_bytes;
    for (const Bytes stop : {own.head, own.free})
    {
        until = stop > own.moved ? std::min(until, stop) : until;
    }
    if (own.moved >= own.free && own.free < m_bytes)
    {
        if (own.ready.IsInfinite())
        {
            own.waits = true;
            return;
        }
        delay = std::max(delay, own.ready - now);
    }
    own.piece = until - own.moved;
    send(part, own.piece, delay);
}

bool
PipelineRun::OnMoved(uint32_t part, Time now, const Send& send)
{
    Part& own = m_parts[part];
    const Bytes before = own.moved;
    own.moved += own.piece;
    const bool hasEnded = own.moved == m_bytes;
    const bool isLast = part + 1 == m_parts.size();
    if (!hasEnded)
    {
        Go(part, now, Time(), send);
    }
    if (!isLast)
    {
        const Time delay = m_parts[part + 1].delay;
        Part& next = m_parts[part + 1];
        if (hasEnded)
        {
            next.ready = now + delay;
        }
        const bool begins = before < own.head && own.moved >= own.head;
        if (begins)
        {
            Go(part + 1, now, delay, send);
        }
        else if (hasEnded && next.waits)
        {
            next.waits = false;
            Go(part + 1, now, delay, send);
        }
    }
    return hasEnded && isLast;
}

} // namespace weir
