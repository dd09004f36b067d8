// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace.h"

#include <algorithm>

namespace weir
{

Bytes
CallSize(const TraceEvent& event)
{
    if (event.kind != TraceEventKind::Collective)
    {
        return event.kind == TraceEventKind::Recv ? event.out : event.in;
    }
    switch (event.op)
    {
    case CollectiveOp::AllGather:
    case CollectiveOp::Gather:
        return event.out;
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::Scatter:
        return event.in;
    default:
        return std::max(event.in, event.out);
    }
}

void
CompleteSizes(TraceEvent& event, std::size_t ranks)
{
    const auto count = static_cast<int64_t>(ranks);
    const bool gathers = event.op == CollectiveOp::AllGather || event.op == CollectiveOp::Gather;
    const bool scatters =
        event.op == CollectiveOp::ReduceScatter || event.op == CollectiveOp::Scatter;
    Bytes& small = gathers ? event.in : event.out;
    Bytes& large = gathers ? event.out : event.in;
    if (!gathers && !scatters)
    {
        event.in = event.out = std::max(event.in, event.out);
    }
    else if (large == Bytes())
    {
        large = Bytes(std::min(small.Count(), MAX_EVENT_BYTES / count + 1) * count);
    }
    else if (small == Bytes())
    {
        small = large / count;
    }
}

std::optional<uint32_t>
RankOfFileName(const std::string& path)
{
    const std::string name = path.substr(path.rfind('/') + 1);
    constexpr std::size_t MAX_DIGITS = 6;
    const auto numberAt = [&](std::size_t at) -> std::optional<uint32_t> {
        const std::size_t end = std::min(name.find_first_not_of("0123456789", at), name.size());
        return end == at || end - at > MAX_DIGITS
                   ? std::nullopt
                   : std::optional(static_cast<uint32_t>(std::stoul(name.substr(at, end - at))));
    };
    for (const std::string word : {"rank", "worker"})
    {
        for (std::size_t at = name.rfind(word); at != std::string::npos;
             at = at == 0 ? std::string::npos : name.rfind(word, at - 1))
        {
            const std::size_t digits = name.find_first_not_of("-_.", at + word.size());
            if (digits != std::string::npos && numberAt(digits))
            {
                return numberAt(digits);
            }
        }
    }
    // Of Chakra's PREFIX.RANK.et the last number: a prefix may have others ("llama3.1.8b").
    for (std::size_t end = name.rfind('.'); end != std::string::npos && end > 0;)
    {
        const std::size_t dot = name.rfind('.', end - 1);
        const bool isNumber =
            dot != std::string::npos && name.find_first_not_of("0123456789", dot + 1) == end;
        if (isNumber && numberAt(dot + 1))
        {
            return numberAt(dot + 1);
        }
        end = dot;
    }
    return std::nullopt;
}

void
AddRemark(std::size_t count, const std::string& what, std::vector<std::string>& remarks)
{
    if (count > 0)
    {
        remarks.push_back(std::to_string(count) + " " + what);
    }
}

std::string
NameOfCall(const TraceEvent& event)
{
    return event.kind == TraceEventKind::Send   ? "send"
           : event.kind == TraceEventKind::Recv ? "recv"
                                                : ToString(event.op);
}

} // namespace weir
