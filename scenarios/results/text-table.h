// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_TEXT_TABLE_H
#define WEIR_SCENARIOS_RESULTS_TEXT_TABLE_H

#include <string>
#include <vector>

namespace weir
{

/**
 * A table for the terminal; each column is as wide as its widest cell, numbers are right-aligned.
 */
class TextTable
{
  public:
    /** @param left number of leading text columns, which are left-aligned */
    explicit TextTable(std::size_t left = 1);

    void Row(std::vector<std::string> cells);

    /** The lines, each indented by @p indent spaces and ended by a newline. */
    std::string Print(std::size_t indent = 0) const;

  private:
    std::size_t m_left;
    std::vector<std::vector<std::string>> m_rows;
};

/** Formats as printf does; at most 511 characters. */
__attribute__((format(printf, 1, 2))) std::string FormatText(const char* format, ...);

/** @p value with @p decimals decimal places and commas between thousands: "1,234.50". */
std::string FormatFixed(double value, int decimals);

/** "12.3 %". */
std::string FormatPercent(double fraction);

/** Seconds with four significant figures in s, ms or us: "1.420 s", "352.5 us". */
std::string FormatSeconds(double seconds);

/** Bytes in decimal units with three significant figures: "1.23 GB". */
std::string FormatDecimalBytes(double bytes);

/** Width of the UTF-8 @p text in terminal columns: one per code point. */
std::size_t DisplayWidth(const std::string& text);

/** @p text shortened to @p width columns, ending in "..." if it was cut. */
std::string Shorten(const std::string& text, std::size_t width);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_TEXT_TABLE_H
