// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/goal-schedule.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace weir
{

namespace
{

constexpr uint64_t MAX_UNSIGNED = std::numeric_limits<uint32_t>::max();
constexpr uint64_t MAX_SMALL = std::numeric_limits<uint8_t>::max();

/** Splits a GOAL text into words, numbers and punctuation, and skips comments. */
class GoalWords
{
  public:
    GoalWords(std::string_view text, const std::string& path)
        : m_text(text),
          m_path(path)
    {
        Next();
    }

    /** The current word; empty at the end. */
    std::string_view Word() const
    {
        return m_word;
    }

    std::size_t Line() const
    {
        return m_line;
    }

    [[noreturn]] void Fail(const std::string& expected) const
    {
        throw InputError(m_path + ":" + std::to_string(m_line) + ": found '" +
                         std::string(m_word.substr(0, 60)) + "', expected " + expected);
    }

    [[noreturn]] void FailAt(std::size_t line, const std::string& message) const
    {
        throw InputError(m_path + ":" + std::to_string(line) + ": found " + message);
    }

    std::string_view Take()
    {
        const std::string_view word = m_word;
        Next();
        return word;
    }

    bool TakeIf(std::string_view word)
    {
        const bool is = m_word == word;
        if (is)
        {
            Next();
        }
        return is;
    }

    void Expect(std::string_view word)
    {
        if (!TakeIf(word))
        {
            Fail("'" + std::string(word) + "'");
        }
    }

    /**
     * Reads an integer followed by @p unit. If @p any is not 0, -1 is read as @p any.
     * @throws InputError
     */
    uint64_t Number(uint64_t max, std::string_view unit = "", uint64_t any = 0)
    {
        if (any != 0 && TakeIf("-1"))
        {
            return any;
        }
        uint64_t number = 0;
        std::size_t i = 0;
        for (; i < m_word.size() && m_word[i] >= '0' && m_word[i] <= '9' && number <= max; i++)
        {
            number = number * 10 + static_cast<uint64_t>(m_word[i] - '0');
        }
        if (i == 0 || number > max || m_word.substr(i) != unit)
        {
            Fail("a whole number of at most " + std::to_string(max) +
                 (unit.empty() ? "" : " and '" + std::string(unit) + "'"));
        }
        Next();
        return number;
    }

  private:
    void SkipBlanks()
    {
        while (!m_text.empty())
        {
            const char c = m_text[0];
            std::size_t skipped = 0;
            if (std::isspace(static_cast<unsigned char>(c)) != 0)
            {
                skipped = 1;
            }
            else if (m_text.substr(0, 2) == "//")
            {
                skipped = std::min(m_text.find('\n'), m_text.size());
            }
            else if (m_text.substr(0, 2) == "/*")
            {
                skipped = std::min(m_text.find("*/", 2), m_text.size() - 2) + 2;
            }
            if (skipped == 0)
            {
                return;
            }
            for (const char passed : m_text.substr(0, skipped))
            {
                m_line += passed == '\n' ? 1 : 0;
            }
            m_text.remove_prefix(skipped);
        }
    }

    void Next()
    {
        SkipBlanks();
        std::size_t length = 0;
        while (length < m_text.size() &&
               (std::isalnum(static_cast<unsigned char>(m_text[length])) != 0 ||
                m_text[length] == '_' || m_text[length] == '-'))
        {
            length++;
        }
        m_word = m_text.substr(0, m_text.empty() ? 0 : std::max<std::size_t>(length, 1));
        m_text.remove_prefix(m_word.size());
    }

    std::string_view m_text; //!< text after the current word
    const std::string& m_path;
    std::string_view m_word;
    std::size_t m_line{1};
};

class GoalTextReader
{
  public:
    GoalTextReader(const std::string& text, const std::string& path)
        : m_words(text, path)
    {
    }

    GoalSchedule Read()
    {
        const std::size_t header = m_words.Line();
        std::unordered_map<std::size_t, std::size_t> lines; // line of each rank's block
        m_words.Expect("num_ranks");
        m_schedule.ranks.resize(m_words.Number(MAX_WORKLOAD_RANKS));
        while (!m_words.Word().empty())
        {
            m_words.Expect("rank");
            if (m_schedule.ranks.empty())
            {
                m_words.Fail("no rank, as num_ranks says");
            }
            const std::string number(m_words.Word());
            const std::size_t line = m_words.Line();
            const std::size_t rank = m_words.Number(m_schedule.ranks.size() - 1);
            const auto [first, isNew] = lines.emplace(rank, line);
            if (!isNew)
            {
                m_words.FailAt(line,
                               "rank " + number + " again (first on line " +
                                   std::to_string(first->second) + "), expected it once");
            }
            auto& ops = m_schedule.ranks[rank];
            m_words.Expect("{");
            m_labels.clear();
            while (!m_words.TakeIf("}"))
            {
                ReadStatement(ops);
            }
        }
        if (lines.size() != m_schedule.ranks.size())
        {
            m_words.FailAt(header,
                           "num_ranks " + std::to_string(m_schedule.ranks.size()) + " and " +
                               std::to_string(lines.size()) +
                               " blocks of ranks, expected one for each");
        }
        return std::move(m_schedule);
    }

  private:
    void ReadStatement(std::vector<GoalOp>& ops)
    {
        if (m_words.Word().empty())
        {
            m_words.Fail("'}' at the end of a rank");
        }
        if (IsOperation())
        {
            ops.push_back(ReadOp());
            return;
        }
        const std::size_t line = m_words.Line();
        const std::string label(m_words.Take());
        if (m_words.TakeIf(":"))
        {
            if (!m_labels.emplace(label, static_cast<uint32_t>(ops.size())).second)
            {
                m_words.FailAt(line,
                               "the label '" + label.substr(0, 60) +
                                   "' again, expected each once in a rank");
            }
            if (!IsOperation())
            {
                m_words.Fail("send, recv or calc");
            }
            ops.push_back(ReadOp());
            return;
        }
        const uint32_t op = IndexOf(label);
        const bool isStart = m_words.Word() == "irequires";
        if (!isStart && m_words.Word() != "requires")
        {
            m_words.Fail("send, recv, calc, requires or irequires");
        }
        m_words.Take();
        const uint32_t need = IndexOf(std::string(m_words.Word()));
        m_words.Take();
        (isStart ? ops[op].irequires_ : ops[op].requires_).push_back(need);
    }

    bool IsOperation() const
    {
        const std::string_view word = m_words.Word();
        return word == "send" || word == "recv" || word == "calc";
    }

    uint32_t IndexOf(const std::string& label) const
    {
        const auto at = m_labels.find(label);
        if (at == m_labels.end())
        {
            m_words.Fail("a label that this rank has had, not '" + label.substr(0, 60) + "'");
        }
        return at->second;
    }

    GoalOp ReadOp()
    {
        GoalOp op;
        const std::string_view word = m_words.Take();
        if (word == "calc")
        {
            op.size = m_words.Number(static_cast<uint64_t>(MAX_EVENT_BYTES));
        }
        else
        {
            op.kind = word == "send" ? GoalOp::Kind::Send : GoalOp::Kind::Recv;
            op.size = m_words.Number(static_cast<uint64_t>(MAX_EVENT_BYTES), "b");
            m_words.Expect(word == "send" ? "to" : "from");
            const bool takesAny = op.kind == GoalOp::Kind::Recv;
            op.peer = static_cast<uint32_t>(
                m_words.Number(m_schedule.ranks.size() - 1, "", takesAny ? GoalOp::ANY : 0));
        }
        while (true)
        {
            if (m_words.TakeIf("tag"))
            {
                op.tag = static_cast<uint32_t>(m_words.Number(MAX_UNSIGNED, "", GoalOp::ANY));
            }
            else if (m_words.TakeIf("cpu"))
            {
                op.cpu = static_cast<uint8_t>(m_words.Number(MAX_SMALL));
            }
            else if (m_words.TakeIf("nic"))
            {
                op.nic = static_cast<uint8_t>(m_words.Number(MAX_SMALL));
            }
            else
            {
                return op;
            }
        }
    }

    GoalWords m_words;
    GoalSchedule m_schedule;
    std::unordered_map<std::string, uint32_t> m_labels; //!< operation by label, in this rank
};

/** Attributes " tag 3 cpu 1 nic 2" of an operation; defaults are omitted. */
std::string
AttributesOf(const GoalOp& op)
{
    const std::string tag = op.tag == GoalOp::ANY ? "-1" : std::to_string(op.tag);
    return (op.kind == GoalOp::Kind::Calc ? "" : " tag " + tag) +
           (op.cpu > 0 ? " cpu " + std::to_string(op.cpu) : "") +
           (op.nic > 0 ? " nic " + std::to_string(op.nic) : "");
}

} // namespace

bool
IsGoalText(const std::string& bytes)
{
    const std::string none;
    constexpr std::size_t BEGINNING = 1 << 16; // maximum bytes of comments
    return GoalWords(std::string_view(bytes).substr(0, BEGINNING), none).Word() == "num_ranks";
}

GoalSchedule
ReadGoalText(const TraceBytes& file)
{
    return GoalTextReader(file.bytes, file.name).Read();
}

std::string
ToGoalText(const GoalSchedule& schedule)
{
    std::string text = "num_ranks " + std::to_string(schedule.ranks.size()) + "\n";
    for (std::size_t rank = 0; rank < schedule.ranks.size(); rank++)
    {
        text += "\nrank " + std::to_string(rank) + " {\n";
        const auto& ops = schedule.ranks[rank];
        for (std::size_t i = 0; i < ops.size(); i++)
        {
            const GoalOp& op = ops[i];
            const std::string label = "l" + std::to_string(i + 1);
            const std::string peer = op.peer == GoalOp::ANY ? "-1" : std::to_string(op.peer);
            text += label + ": " +
                    (op.kind == GoalOp::Kind::Send   ? "send "
                     : op.kind == GoalOp::Kind::Recv ? "recv "
                                                     : "calc ") +
                    std::to_string(op.size) +
                    (op.kind == GoalOp::Kind::Calc
                         ? ""
                         : (op.kind == GoalOp::Kind::Send ? "b to " : "b from ") + peer) +
                    AttributesOf(op) + "\n";
            for (const uint32_t need : op.requires_)
            {
                text += label + " requires l" + std::to_string(need + 1) + "\n";
            }
            for (const uint32_t need : op.irequires_)
            {
                text += label + " irequires l" + std::to_string(need + 1) + "\n";
            }
        }
        text += "}\n";
    }
    return text;
}

} // namespace weir
