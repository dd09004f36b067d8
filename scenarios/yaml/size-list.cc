// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/size-list.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <limits>
#include <sstream>

namespace weir
{

namespace
{

bool
IsDigits(const std::string& text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c >= '0' && c <= '9';
    });
}

/** Parses @p text as an integer from 0 to @p max. @throws InputError with the text @p expected */
int64_t
ParseCount(const std::string& text, int64_t max, const char* expected)
{
    const auto count = ParseNumber<int64_t>(text);
    if (!count || *count < 0 || *count > max)
    {
        throw InputError("found '" + text + "', expected " + expected);
    }
    return *count;
}

Bytes
ParseSize(const std::string& text)
{
    if (IsDigits(text))
    {
        return Bytes(ParseCount(text, std::numeric_limits<int64_t>::max(), "a number of bytes"));
    }
    return ParseBytes(text);
}

std::vector<Bytes>
ParseRange(const std::string& text)
{
    constexpr int64_t MAX_FACTOR = 1 << 20;
    const auto parts = SplitText(text, ':');
    if (parts.size() != 3 || parts[2].size() < 2 || parts[2][0] != 'x')
    {
        throw InputError("found '" + text + "', expected first:last:xFACTOR, as in 8B:16GiB:x2");
    }
    const Bytes first = ParseSize(parts[0]);
    const Bytes last = ParseSize(parts[1]);
    const int64_t factor =
        ParseCount(parts[2].substr(1), MAX_FACTOR, "a whole factor from 2, as in x2");
    if (factor < 2 || first.Count() == 0 || last < first)
    {
        throw InputError("found '" + text +
                         "', expected a first size above 0, a last one not below it, and a "
                         "factor from 2");
    }
    std::vector<Bytes> sizes;
    for (Bytes size = first; size <= last; size = size * factor)
    {
        sizes.push_back(size);
        if (size.Count() > last.Count() / factor)
        {
            break;
        }
    }
    return sizes;
}

} // namespace

std::vector<Bytes>
ParseSizeList(const std::string& text)
{
    if (text.find(':') != std::string::npos)
    {
        return ParseRange(text);
    }
    return Mapped<Bytes>(SplitText(text, ','), [&](const auto& part) { return ParseSize(part); });
}

std::vector<std::vector<Bytes>>
ReadCounts(const std::string& path, uint32_t ranks)
{
    std::istringstream text(ReadTextFile(path, "a CSV file of sizes"));
    std::vector<std::vector<Bytes>> rows;
    std::size_t number = 0;
    for (std::string line; std::getline(text, line);)
    {
        number++;
        if (!line.empty() && line.back() == '\r')
        {
            line.pop_back();
        }
        if (line.empty() || line.front() == '#')
        {
            continue;
        }
        const std::string where = path + ":" + std::to_string(number);
        rows.push_back(LocateErrors(where, [&] { return ParseSizeList(line); }));
        if (rows.back().size() != ranks)
        {
            throw InputError(where + ": found " + std::to_string(rows.back().size()) +
                             " sizes, expected " + std::to_string(ranks) +
                             ", one for each receiver");
        }
    }
    if (rows.size() == 1)
    {
        rows.resize(ranks, rows.front());
    }
    if (rows.size() != ranks)
    {
        throw InputError(path + ": found " + std::to_string(rows.size()) + " rows, expected 1 or " +
                         std::to_string(ranks) + ", one for each sender");
    }
    return rows;
}

} // namespace weir
