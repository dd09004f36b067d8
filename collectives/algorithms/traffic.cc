// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/traffic.h"

#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** Adds a message unless it is empty. */
void
Add(std::vector<Message>& messages, uint32_t from, uint32_t to, Bytes bytes)
{
    if (bytes > Bytes())
    {
        messages.push_back({from, to, bytes});
    }
}

} // namespace

Traffic::Traffic(const std::vector<std::vector<Bytes>>& parts)
    : m_ranks(static_cast<uint32_t>(parts.size()))
{
    m_parts.reserve(parts.size() * parts.size());
    for (std::size_t from = 0; from < parts.size(); ++from)
    {
        const auto name = "traffic of rank " + std::to_string(from);
        if (parts[from].size() != parts.size())
        {
            throw std::invalid_argument(name + ": found " + std::to_string(parts[from].size()) +
                                        " parts, expected one for each of " +
                                        std::to_string(parts.size()) + " ranks");
        }
        Bytes row;
        for (const Bytes part : parts[from])
        {
            if (part < Bytes() || part > MAX_CALL_BYTES || row + part > MAX_CALL_BYTES)
            {
                throw std::invalid_argument(name + ": found a part of " +
                                            std::to_string(part.Count()) +
                                            " bytes, expected 0 to 2^58 bytes in total");
            }
            row += part;
            m_parts.push_back(part);
        }
        m_largestRow = std::max(m_largestRow, row);
    }
    if (parts.empty())
    {
        throw std::invalid_argument("traffic: found no ranks, expected at least 1");
    }
}

std::vector<Message>
MessagesOf(CollectiveOp op, uint32_t ranks, Bytes bytes, uint32_t root, const Traffic* traffic)
{
    std::vector<Message> messages;
    const Bytes part = DivideUp(bytes, ranks);
    switch (op)
    {
    case CollectiveOp::AllToAll:
        messages.reserve(std::size_t{ranks} * ranks);
        for (uint32_t from = 0; from < ranks; ++from)
        {
            for (uint32_t to = 0; to < ranks; ++to)
            {
                Add(messages, from, to, traffic ? traffic->Part(from, to) : part);
            }
        }
        break;
    case CollectiveOp::Gather:
    case CollectiveOp::Scatter:
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            const bool gathers = op == CollectiveOp::Gather;
            Add(messages, gathers ? rank : root, gathers ? root : rank, part);
        }
        break;
    case CollectiveOp::SendRecv:
        for (uint32_t from = 0; from < ranks; ++from)
        {
            Add(messages, from, (from + 1) % ranks, bytes);
        }
        break;
    case CollectiveOp::Send:
        Add(messages, 0, 1, bytes);
        break;
    default:
        throw std::logic_error("MessagesOf: not a point-to-point operation");
    }
    return messages;
}

bool
IsPointToPoint(CollectiveOp op)
{
    return op == CollectiveOp::AllToAll || op == CollectiveOp::Gather ||
           op == CollectiveOp::Scatter || op == CollectiveOp::SendRecv || op == CollectiveOp::Send;
}

} // namespace weir
