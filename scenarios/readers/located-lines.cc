// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/located-lines.h"

#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

namespace weir
{

namespace
{

constexpr const char* WHITE_SPACE = " \t\r\v\f";

std::string_view
Trim(std::string_view text)
{
    const auto first = text.find_first_not_of(WHITE_SPACE);
    if (first == std::string_view::npos)
    {
        return {};
    }
    return text.substr(first, text.find_last_not_of(WHITE_SPACE) - first + 1);
}

} // namespace

LocatedLines::LocatedLines(std::string path, const std::string& what)
    : m_path(std::move(path))
{
    if (const char* kind = KindWithoutText(m_path))
    {
        throw InputError(what + ": found the " + kind + " '" + m_path + "', expected a file");
    }
    NoteFileRead(m_path);
    m_file.open(m_path);
    if (!m_file)
    {
        throw InputError(what + ": found no readable file '" + m_path + "' (" +
                         std::strerror(errno) + "), expected one");
    }
}

bool
LocatedLines::NextLine()
{
    if (std::exchange(m_peeked, false))
    {
        return true;
    }
    while (std::getline(m_file, m_line))
    {
        m_number++;
        const std::size_t wrong = FindNonText(m_line);
        if (wrong != std::string::npos)
        {
            throw Error("found " + ByteName(m_line[wrong]) + ", expected text");
        }
        if (m_number == 1)
        {
            RemoveByteOrderMark(m_line);
        }
        const auto first = m_line.find_first_not_of(WHITE_SPACE);
        if (first != std::string::npos && m_line[first] != '#')
        {
            return true;
        }
    }
    if (m_file.bad())
    {
        throw Error("cannot be read further");
    }
    m_fields.clear();
    return false;
}

bool
LocatedLines::IsNextWithCommas()
{
    m_peeked = NextLine();
    return m_peeked && m_line.find(',') != std::string::npos;
}

bool
LocatedLines::NextAtSpaces()
{
    if (!NextLine())
    {
        return false;
    }
    m_fields.clear();
    const std::string_view line = m_line;
    for (auto first = line.find_first_not_of(WHITE_SPACE); first != std::string_view::npos;)
    {
        const auto end = line.find_first_of(WHITE_SPACE, first);
        m_fields.push_back(line.substr(first, end - first));
        first = line.find_first_not_of(WHITE_SPACE, end);
    }
    return true;
}

bool
LocatedLines::NextAtCommas()
{
    if (!NextLine())
    {
        return false;
    }
    m_fields.clear();
    std::string_view rest = m_line;
    for (auto comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(','))
    {
        m_fields.push_back(Trim(rest.substr(0, comma)));
        rest.remove_prefix(comma + 1);
    }
    m_fields.push_back(Trim(rest));
    return true;
}

std::vector<std::string>
LocatedLines::NextHeader(const std::vector<std::string>& columns, const std::string& more)
{
    NextAtCommas();
    const bool isLongEnough =
        more.empty() ? m_fields.size() == columns.size() : m_fields.size() >= columns.size();
    if (!isLongEnough || !std::equal(columns.begin(), columns.end(), m_fields.begin()))
    {
        throw Error("found other columns, expected " + JoinNames(columns, ",") +
                    (more.empty() ? "" : " and " + more));
    }
    return {m_fields.begin(), m_fields.end()};
}

bool
LocatedLines::NextRow(std::size_t fields)
{
    const bool isThere = NextAtCommas();
    if (isThere && m_fields.size() != fields)
    {
        throw Error("found " + std::to_string(m_fields.size()) + " fields, expected " +
                    std::to_string(fields));
    }
    return isThere;
}

bool
LocatedLines::StartsWithNumber() const
{
    const char first = m_fields.empty() || m_fields[0].empty() ? ' ' : m_fields[0][0];
    return (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
}

bool
LocatedLines::NextPastRemarks()
{
    while (NextAtSpaces())
    {
        if (StartsWithNumber())
        {
            return true;
        }
    }
    return false;
}

int64_t
LocatedLines::Whole(std::size_t index, const char* name, int64_t min, int64_t max) const
{
    const std::string_view text = m_fields[index];
    const auto value = ParseNumber<int64_t>(text);
    if (!value || *value < min || *value > max)
    {
        throw Refusal(name,
                      text,
                      "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    }
    return *value;
}

double
LocatedLines::Decimal(std::size_t index, const char* name) const
{
    const std::string_view text = m_fields[index];
    const auto value = ParseNumber<double>(text);
    if (!value || !std::isfinite(*value))
    {
        throw Refusal(name, text, "a number");
    }
    return *value;
}

double
LocatedLines::Positive(std::size_t index, const char* name, const char* unit) const
{
    const double value = Decimal(index, name);
    if (value <= 0)
    {
        throw Refusal(name, m_fields[index], unit + std::string(" above zero"));
    }
    return value;
}

InputError
LocatedLines::Refusal(const std::string& name,
                      std::string_view found,
                      const std::string& expected) const
{
    return Error(name + ": found '" + std::string(found) + "', expected " + expected);
}

std::string
LocatedLines::Where() const
{
    return m_path + (m_number == 0 ? "" : ":" + std::to_string(m_number)); // 0: empty file
}

InputError
LocatedLines::Error(const std::string& message) const
{
    return InputError(Where() + ": " + message);
}

} // namespace weir
