// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/text-table.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace weir
{

namespace
{

bool
IsContinuation(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/** @p value with @p significant figures before @p unit. */
std::string
FormatSignificant(double value, int significant, const char* unit)
{
    const int magnitude = value > 0 ? static_cast<int>(std::floor(std::log10(value))) : 0;
    return FormatFixed(value, std::max(0, significant - 1 - magnitude)) + " " + unit;
}

} // namespace

TextTable::TextTable(std::size_t left)
    : m_left(left)
{
}

void
TextTable::Row(std::vector<std::string> cells)
{
    m_rows.push_back(std::move(cells));
}

std::string
TextTable::Print(std::size_t indent) const
{
    std::vector<std::size_t> widths;
    for (const auto& row : m_rows)
    {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); i++)
        {
            widths[i] = std::max(widths[i], DisplayWidth(row[i]));
        }
    }
    std::string text;
    for (const auto& row : m_rows)
    {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < row.size(); i++)
        {
            const std::string padding(widths[i] - DisplayWidth(row[i]), ' ');
            line += (i > 0 ? "  " : "") + (i < m_left ? row[i] + padding : padding + row[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string
FormatText(const char* format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

std::string
FormatFixed(double value, int decimals)
{
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
    std::string text = digits;
    const auto dot = std::min(text.find('.'), text.size());
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t position = dot; position > first + 3;)
    {
        position -= 3;
        text.insert(position, ",");
    }
    return text;
}

std::string
FormatPercent(double fraction)
{
    return FormatFixed(fraction * 100, 1) + " %";
}

std::string
FormatSeconds(double seconds)
{
    if (!std::isfinite(seconds))
    {
        return "never";
    }
    if (seconds >= 1)
    {
        return FormatSignificant(seconds, 4, "s");
    }
    return seconds >= 1e-3 ? FormatSignificant(seconds * 1e3, 4, "ms")
                           : FormatSignificant(seconds * 1e6, 4, "us");
}

std::string
FormatDecimalBytes(double bytes)
{
    const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit < 5)
    {
        bytes /= 1000;
        unit++;
    }
    return unit == 0 ? FormatFixed(bytes, 0) + " B" : FormatSignificant(bytes, 3, units[unit]);
}

std::size_t
DisplayWidth(const std::string& text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return !IsContinuation(byte); }));
}

std::string
Shorten(const std::string& text, std::size_t width)
{
    if (DisplayWidth(text) <= width)
    {
        return text;
    }
    std::size_t columns = 0;
    std::size_t end = 0;
    while (end < text.size() && (IsContinuation(text[end]) || columns + 3 < width))
    {
        columns += IsContinuation(text[end]) ? 0 : 1;
        end++;
    }
    return text.substr(0, end) + "...";
}

} // namespace weir
