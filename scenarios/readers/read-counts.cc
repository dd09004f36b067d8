// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-counts.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/size-list.h"
#include "scenarios/yaml/text-file.h"

#include <sstream>

namespace weir
{

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
        const std::string where = path + ":" + std::to_string(number) + ": ";
        try
        {
            rows.push_back(ParseSizeList(line));
        }
        catch (const InputError& error)
        {
            throw InputError(where + error.what());
        }
        if (rows.back().size() != ranks)
        {
            throw InputError(where + "found " + std::to_string(rows.back().size()) +
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
