// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/point-to-point-turns.h"

#include "collectives/algorithms/point-to-point/point-to-point-order.h"

#include <algorithm>
#include <tuple>

namespace weir
{

uint32_t
PeerTurn::Sends() const
{
    return static_cast<uint32_t>(
        std::count_if(works.begin(), works.end(), [](const auto& work) { return work.sends; }));
}

uint32_t
PeerTurn::ReceivesBefore(uint32_t round) const
{
    return static_cast<uint32_t>(std::count_if(works.begin(), works.end(), [&](const auto& work) {
        return !work.sends && work.round < round;
    }));
}

std::vector<PeerTurn>
TurnsOf(const std::vector<Message>& messages,
        const std::vector<MessagePart>& parts,
        const std::vector<uint32_t>& onChannel)
{
    std::vector<PeerWork> works;
    works.reserve(2 * onChannel.size());
    for (const uint32_t index : onChannel)
    {
        const auto& part = parts[index];
        const Message& message = messages[part.message];
        works.push_back({message.from, part.round, true, index});
        works.push_back({message.to, part.round, false, index});
    }
    std::sort(works.begin(), works.end(), [](const PeerWork& a, const PeerWork& b) {
        return std::tie(a.rank, a.round, a.sends, a.part) <
               std::tie(b.rank, b.round, b.sends, b.part);
    });
    std::vector<PeerTurn> turns;
    std::size_t first = 0; // turn of the rank
    uint32_t place = 0;    // of the round among the rank's
    for (std::size_t i = 0; i < works.size(); ++i)
    {
        if (i == 0 || works[i].rank != works[i - 1].rank)
        {
            first = turns.size();
            place = 0;
        }
        else if (works[i].round != works[i - 1].round)
        {
            ++place;
        }
        const std::size_t turn = first + place % PointToPointOrder::WORKS_AT_ONCE;
        if (turn == turns.size())
        {
            turns.emplace_back();
        }
        turns[turn].works.push_back(works[i]);
    }
    return turns;
}

} // namespace weir
