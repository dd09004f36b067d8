// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/goal-schedule.h"

#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <string_view>

namespace weir
{

namespace
{

constexpr uint64_t MAGIC = 4223;      //!< magic number of a complete file
constexpr uint64_t UNFINISHED = 2342; //!< magic number of a file whose writer has not finished
constexpr std::size_t MAGIC_BYTES = 8;
constexpr std::size_t NODE_BYTES = 39; //!< size of a record: seven u32, one u64 and three u8

/** Reads consecutive little-endian numbers of a file. */
class GoalNumbers
{
  public:
    GoalNumbers(std::string_view bytes, std::string location)
        : m_bytes(bytes),
          m_location(std::move(location))
    {
    }

    [[noreturn]] void Fail(const std::string& found, const std::string& expected) const
    {
        throw InputError(m_location + ": found " + found + ", expected " + expected);
    }

    void GoTo(uint64_t at)
    {
        if (at > m_bytes.size())
        {
            Fail("an offset of " + std::to_string(at), "at most " + std::to_string(m_bytes.size()));
        }
        m_at = at;
    }

    uint64_t At() const
    {
        return m_at;
    }

    template <typename Number>
    Number Take()
    {
        if (m_bytes.size() - m_at < sizeof(Number))
        {
            Fail("an end at byte " + std::to_string(m_bytes.size()), "more of the schedule");
        }
        const uint64_t number = LittleEndian(m_bytes.substr(m_at, sizeof(Number)));
        m_at += sizeof(Number);
        return static_cast<Number>(number);
    }

  private:
    std::string_view m_bytes;
    std::string m_location;
    uint64_t m_at{0};
};

/** The operations that depend on an operation: length and start of their list. */
struct GoalDependents
{
    uint32_t count{0};
    uint32_t first{0};
};

std::vector<GoalOp>
ReadRank(std::string_view bytes, uint32_t ranks, const std::string& location)
{
    GoalNumbers numbers(bytes, location);
    const auto nodes = numbers.Take<uint32_t>();
    const auto roots = numbers.Take<uint32_t>();
    const uint64_t listed = numbers.At() + uint64_t{roots} * sizeof(uint32_t);
    if (roots > nodes || listed + uint64_t{nodes} * NODE_BYTES > bytes.size())
    {
        numbers.Fail(std::to_string(nodes) + " operations in " + std::to_string(bytes.size()) +
                         " bytes",
                     "a number that fits");
    }
    numbers.GoTo(listed);
    std::vector<GoalOp> ops(nodes);
    std::vector<GoalDependents> ends(nodes);
    std::vector<GoalDependents> starts(nodes);
    std::vector<uint32_t> counts(nodes);
    for (uint32_t i = 0; i < nodes; i++)
    {
        GoalOp& op = ops[i];
        counts[i] = numbers.Take<uint32_t>();
        const auto kind = numbers.Take<uint8_t>();
        op.kind = static_cast<GoalOp::Kind>(kind);
        op.peer = numbers.Take<uint32_t>();
        op.size = numbers.Take<uint64_t>();
        op.tag = numbers.Take<uint32_t>();
        op.cpu = numbers.Take<uint8_t>();
        op.nic = numbers.Take<uint8_t>();
        ends[i].count = numbers.Take<uint32_t>();
        ends[i].first = numbers.Take<uint32_t>();
        starts[i].count = numbers.Take<uint32_t>();
        starts[i].first = numbers.Take<uint32_t>();
        const bool hasPeer = kind == 1 || kind == 2;
        const bool isAny = kind == 2 && op.peer == GoalOp::ANY;
        if (kind < 1 || kind > 3 || (hasPeer && !isAny && op.peer >= ranks) ||
            op.size > static_cast<uint64_t>(MAX_EVENT_BYTES))
        {
            numbers.Fail(
                "operation " + std::to_string(i) + " of type " + std::to_string(kind) + ", peer " +
                    std::to_string(op.peer) + ", size " + std::to_string(op.size),
                "1 (send), 2 (recv) or 3 (calc) with a rank below " + std::to_string(ranks));
        }
    }
    const uint64_t appendix = numbers.At();
    for (uint32_t i = 0; i < nodes; i++)
    {
        for (const bool isStart : {false, true})
        {
            const GoalDependents& list = isStart ? starts[i] : ends[i];
            if (list.count > 0)
            {
                numbers.GoTo(appendix + uint64_t{list.first} * sizeof(uint32_t));
            }
            for (uint32_t j = 0; j < list.count; j++)
            {
                const auto other = numbers.Take<uint32_t>();
                if (other >= nodes)
                {
                    numbers.Fail("operation " + std::to_string(other) +
                                     " as a dependent of operation " + std::to_string(i),
                                 "one of " + std::to_string(nodes));
                }
                (isStart ? ops[other].irequires_ : ops[other].requires_).push_back(i);
            }
        }
    }
    for (uint32_t i = 0; i < nodes; i++)
    {
        if (counts[i] != ops[i].requires_.size() + ops[i].irequires_.size())
        {
            numbers.Fail("operation " + std::to_string(i) + " with a number of dependencies of " +
                             std::to_string(ops[i].requires_.size() + ops[i].irequires_.size()),
                         "a number of dependencies of " + std::to_string(counts[i]));
        }
    }
    return ops;
}

template <typename Number>
void
Append(std::string& bytes, Number number)
{
    for (std::size_t i = 0; i < sizeof(Number); i++)
    {
        bytes += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i) & 0xffU);
    }
}

std::string
RankBytes(const std::vector<GoalOp>& ops)
{
    std::vector<std::vector<uint32_t>> ends(ops.size());
    std::vector<std::vector<uint32_t>> starts(ops.size());
    std::vector<uint32_t> roots;
    for (uint32_t i = 0; i < ops.size(); i++)
    {
        for (const uint32_t need : ops[i].requires_)
        {
            ends[need].push_back(i);
        }
        for (const uint32_t need : ops[i].irequires_)
        {
            starts[need].push_back(i);
        }
        if (ops[i].requires_.empty() && ops[i].irequires_.empty())
        {
            roots.push_back(i);
        }
    }
    std::string bytes;
    Append(bytes, static_cast<uint32_t>(ops.size()));
    Append(bytes, static_cast<uint32_t>(roots.size()));
    for (const uint32_t root : roots)
    {
        Append(bytes, root);
    }
    std::string appendix;
    uint32_t appended = 0;
    for (std::size_t i = 0; i < ops.size(); i++)
    {
        const GoalOp& op = ops[i];
        Append(bytes, static_cast<uint32_t>(op.requires_.size() + op.irequires_.size()));
        Append(bytes, static_cast<uint8_t>(op.kind));
        Append(bytes, op.peer);
        Append(bytes, op.size);
        Append(bytes, op.tag);
        Append(bytes, op.cpu);
        Append(bytes, op.nic);
        for (const auto* list : {&ends[i], &starts[i]})
        {
            Append(bytes, static_cast<uint32_t>(list->size()));
            Append(bytes, appended);
            appended += static_cast<uint32_t>(list->size());
            for (const uint32_t other : *list)
            {
                Append(appendix, other);
            }
        }
    }
    return bytes + appendix;
}

} // namespace

bool
IsGoalBinary(const std::string& bytes)
{
    if (bytes.size() < MAGIC_BYTES)
    {
        return false;
    }
    const auto magic = GoalNumbers(bytes, "").Take<uint64_t>();
    return magic == MAGIC || magic == UNFINISHED;
}

GoalSchedule
ReadGoalBinary(const TraceBytes& file)
{
    GoalNumbers magic(file.bytes, file.name);
    if (magic.Take<uint64_t>() != MAGIC)
    {
        magic.Fail("the magic number of an unfinished schedule", std::to_string(MAGIC));
    }
    const std::string_view body = std::string_view(file.bytes).substr(MAGIC_BYTES);
    GoalNumbers header(body, file.name);
    const auto ranks = header.Take<uint32_t>();
    header.Take<uint8_t>(); // CPUs
    header.Take<uint8_t>(); // NICs
    if (ranks > MAX_WORKLOAD_RANKS)
    {
        header.Fail(std::to_string(ranks) + " ranks",
                    "at most " + std::to_string(MAX_WORKLOAD_RANKS));
    }
    GoalSchedule schedule;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const auto begin = header.Take<uint64_t>();
        const auto end = header.Take<uint64_t>();
        const std::string location = file.name + ": rank " + std::to_string(rank);
        if (begin > end || end > body.size())
        {
            header.Fail("rank " + std::to_string(rank) + " in bytes " + std::to_string(begin) +
                            " to " + std::to_string(end),
                        "an order within " + std::to_string(body.size()));
        }
        schedule.ranks.push_back(ReadRank(body.substr(begin, end - begin), ranks, location));
    }
    return schedule;
}

std::string
ToGoalBinary(const GoalSchedule& schedule)
{
    uint8_t cpus = 1;
    uint8_t nics = 1;
    std::string ranks;
    std::string table;
    constexpr std::size_t HEADER = 6; // size before the table of offsets
    const std::size_t first = HEADER + schedule.ranks.size() * 2 * sizeof(uint64_t);
    for (const auto& ops : schedule.ranks)
    {
        for (const GoalOp& op : ops)
        {
            cpus = std::max(cpus, static_cast<uint8_t>(std::min(op.cpu + 1, 255)));
            nics = std::max(nics, static_cast<uint8_t>(std::min(op.nic + 1, 255)));
        }
        Append(table, static_cast<uint64_t>(first + ranks.size()));
        ranks += RankBytes(ops);
        Append(table, static_cast<uint64_t>(first + ranks.size()));
    }
    std::string bytes;
    Append(bytes, MAGIC);
    Append(bytes, static_cast<uint32_t>(schedule.ranks.size()));
    Append(bytes, cpus);
    Append(bytes, nics);
    return bytes + table + ranks;
}

} // namespace weir
