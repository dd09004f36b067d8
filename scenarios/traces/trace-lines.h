// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_LINES_H
#define WEIR_SCENARIOS_TRACES_TRACE_LINES_H

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir
{

/**
 * Iterates over the lines of a text in memory and splits them into fields; errors name file and
 * line.
 */
class TraceLines
{
  public:
    /** Both arguments must outlive the object. */
    TraceLines(std::string_view text, const std::string& path)
        : m_text(text),
          m_path(path)
    {
    }

    /** Moves to the next line. @return false at the end. */
    bool Next()
    {
        if (m_text.empty())
        {
            return false;
        }
        const std::size_t end = std::min(m_text.find('\n'), m_text.size());
        m_line = m_text.substr(0, end);
        m_text.remove_prefix(std::min(end + 1, m_text.size()));
        m_number++;
        if (!m_line.empty() && m_line.back() == '\r')
        {
            m_line.remove_suffix(1);
        }
        return true;
    }

    std::string_view Line() const
    {
        return m_line;
    }

    /** "line 7". */
    std::string Id() const
    {
        return "line " + std::to_string(m_number);
    }

    /**
     * The fields of the line, split at any character of @p separators. Empty fields are kept only
     * for the separator ",".
     */
    std::vector<std::string_view> Fields(std::string_view separators) const
    {
        const bool areBlanks = separators != ",";
        std::vector<std::string_view> fields;
        std::string_view rest = m_line;
        while (true)
        {
            const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
            if (end > 0 || !areBlanks)
            {
                fields.push_back(rest.substr(0, end));
            }
            if (end == rest.size())
            {
                return fields;
            }
            rest.remove_prefix(end + 1);
        }
    }

    [[noreturn]] void Fail(const std::string& what,
                           std::string_view found,
                           const std::string& expected) const
    {
        throw InputError(m_path + ":" + std::to_string(m_number) + ": " + what + ": found '" +
                         std::string(found.substr(0, 60)) + "', expected " + expected);
    }

    /** Parses @p text as an integer from 0 to @p max. @throws InputError */
    int64_t Whole(std::string_view text, const std::string& what, int64_t max) const
    {
        const auto number = ParseNumber<int64_t>(text);
        if (!number || *number < 0 || *number > max)
        {
            Fail(what, text, "a whole number of at most " + std::to_string(max));
        }
        return *number;
    }

  private:
    std::string_view m_text; //!< text after the current line
    const std::string& m_path;
    std::string_view m_line;
    uint64_t m_number{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_LINES_H
