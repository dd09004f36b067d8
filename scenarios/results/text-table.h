// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_TEXT_TABLE_H
#define WEIR_SCENARIOS_RESULTS_TEXT_TABLE_H

#include <string>
#include <vector>

namespace weir
{

/** A table for the terminal: every column as wide as its widest cell, numbers to the right. */
class TextTable
{
  public:
    /** @param left how many of the first columns are text, set to the left */
    explicit TextTable(std::size_t left = 1);

    void Row(std::vector<std::string> cells);

    /** The lines, each indented by @p indent spaces and ended by a newline. */
    std::string Print(std::size_t indent = 0) const;

  private:
    std::size_t m_left;
    std::vector<std::vector<std::string>> m_rows;
};

/** What printf writes, at most 511 characters of it. */
__attribute__((format(printf, 1, 2))) std::string FormatText(const char* format, ...);

/** @p value with @p decimals places, thousands apart by commas: "1,234.50". */
std::string FormatFixed(double value, int decimals);

/** "12.3 %". */
std::string FormatPercent(double fraction);

/** Seconds with four significant figures in s, ms or us: "1.420 s", "352.5 us". */
std::string FormatSeconds(double seconds);

/** Bytes in decimal units with three significant figures: "1.23 GB". */
std::string FormatDecimalBytes(double bytes);

/** How many columns of a terminal UTF-8 @p text takes: one a code point. */
std::size_t DisplayWidth(const std::string& text);

/** @p text cut to @p width columns, with "..." at the end where something was cut. */
std::string Shorten(const std::string& text, std::size_t width);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_TEXT_TABLE_H
