// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/tuner-rule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr std::array<const char*, 10> COLUMNS{"collective_type",
                                              "min_bytes",
                                              "max_bytes",
                                              "algorithm",
                                              "protocol",
                                              "channels",
                                              "nNodes",
                                              "nRanks",
                                              "numPipeOps",
                                              "regBuff"};
constexpr std::size_t NEEDED_COLUMNS = 8;

std::string
Trimmed(const std::string& text)
{
    const auto first = text.find_first_not_of(" \t\r");
    const auto last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/**
 * Removes - and _: NCCL writes reducescatter and nvls_tree where Weir writes reduce-scatter and
 * nvls-tree.
 */
std::string
WithoutSeparators(std::string text)
{
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char c) { return c == '-' || c == '_'; }),
        text.end());
    return text;
}

/**
 * One line, split at its commas. @throws std::invalid_argument for a wrong number of columns or
 * value.
 */
class RuleLine
{
  public:
    RuleLine(const std::string& file, std::size_t number, const std::string& text)
        : m_location(file + ":" + std::to_string(number))
    {
        std::size_t begin = 0;
        for (std::size_t end = 0; end != std::string::npos; begin = end + 1)
        {
            end = text.find(',', begin);
            m_fields.push_back(Trimmed(text.substr(begin, end - begin)));
        }
        if (m_fields.size() < NEEDED_COLUMNS || m_fields.size() > COLUMNS.size())
        {
            throw std::invalid_argument(m_location + ": found " + std::to_string(m_fields.size()) +
                                        " columns, expected 8 to 10");
        }
    }

    bool IsHeader() const
    {
        return m_fields.front() == COLUMNS.front();
    }

    std::size_t Fields() const
    {
        return m_fields.size();
    }

    /** Column @p column as a whole number of at least @p least. */
    int64_t Number(std::size_t column, int64_t least) const
    {
        const std::string& text = m_fields[column];
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < least)
        {
            Refuse(column, "a whole number from " + std::to_string(least) + " on");
        }
        return value;
    }

    /** Column @p column as a count; nothing for -1, which stands for any. */
    std::optional<uint32_t> Count(std::size_t column) const
    {
        const int64_t value = Number(column, -1);
        if (value == 0 || value > 0xffffffffLL)
        {
            Refuse(column, "-1 or a count from 1 on");
        }
        return value < 0 ? std::nullopt : std::optional<uint32_t>(value);
    }

    /** Column @p column as the name of a value up to @p last. */
    template <typename Enum>
    Enum Name(std::size_t column, Enum last) const
    {
        std::string known;
        for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
        {
            const char* name = ToString(static_cast<Enum>(i));
            if (WithoutSeparators(name) == WithoutSeparators(m_fields[column]))
            {
                return static_cast<Enum>(i);
            }
            known += (i > 0 ? ", " : "") + std::string(name);
        }
        Refuse(column, "one of: " + known);
    }

    /** As Name; nothing for -1, which stands for any. */
    template <typename Enum>
    std::optional<Enum> NameOrAny(std::size_t column, Enum last) const
    {
        return m_fields[column] == "-1" ? std::nullopt : std::optional<Enum>(Name(column, last));
    }

    [[noreturn]] void Refuse(std::size_t column, const std::string& expected) const
    {
        throw std::invalid_argument(m_location + ", column " + std::to_string(column + 1) + " (" +
                                    COLUMNS[column] + "): found '" + m_fields[column] +
                                    "', expected " + expected);
    }

  private:
    std::string m_location;
    std::vector<std::string> m_fields;
};

TunerRule
ParseRule(const RuleLine& line)
{
    TunerRule rule;
    rule.op = line.Name(0, LAST_COLLECTIVE_OP);
    rule.least = Bytes(line.Number(1, 0));
    rule.most = Bytes(line.Number(2, 0));
    if (rule.most < rule.least)
    {
        line.Refuse(2, "at least min_bytes");
    }
    rule.algorithm = line.NameOrAny(3, Algorithm::Pat);
    rule.protocol = line.NameOrAny(4, Protocol::Simple);
    rule.channels = line.Count(5);
    rule.nodes = line.Count(6);
    rule.ranks = line.Count(7);
    for (std::size_t column = NEEDED_COLUMNS; column < line.Fields(); ++column)
    {
        line.Number(column, -1);
    }
    return rule;
}

} // namespace

bool
TunerRule::Fits(CollectiveOp anOp, Bytes bytes, uint32_t someNodes, uint32_t someRanks) const
{
    return op == anOp && least <= bytes && bytes <= most && (!nodes || *nodes == someNodes) &&
           (!ranks || *ranks == someRanks);
}

std::vector<TunerRule>
ParseTunerRules(const std::string& text, const std::string& file)
{
    std::vector<TunerRule> rules;
    std::size_t number = 0;
    std::size_t begin = 0;
    while (begin < text.size())
    {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = Trimmed(text.substr(begin, end - begin));
        begin = end + 1;
        ++number;
        if (line.empty() || line.front() == '#')
        {
            continue;
        }
        const RuleLine fields(file, number, line);
        if (!fields.IsHeader())
        {
            rules.push_back(ParseRule(fields));
        }
    }
    return rules;
}

} // namespace weir
