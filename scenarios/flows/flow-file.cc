// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-file.h"

#include "scenarios/yaml/nearest-name.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

namespace weir
{

namespace
{

constexpr int64_t MOST = std::numeric_limits<int64_t>::max();
constexpr int64_t MOST_PORT = std::numeric_limits<uint16_t>::max();
constexpr double MOST_START = 1e6; //!< seconds; leaves most of what Time can count to the flows

/** The columns of a CSV, in the order of FlowFile::Column. */
const std::vector<std::string>&
ColumnNames()
{
    static const std::vector<std::string> names{"src", "dst", "pg", "dport", "bytes", "start_s"};
    return names;
}

} // namespace

FlowFile::FlowFile(const std::string& path)
    : m_lines(path, "--flows")
{
    m_places.fill(ABSENT);
    m_isCsv = m_lines.IsNextWithCommas();
    if (m_isCsv)
    {
        ReadCsvHeader();
    }
    else
    {
        ReadCount();
    }
}

std::size_t
FlowFile::ExpectedFlows() const
{
    constexpr std::uintmax_t SHORTEST_ROW = sizeof("0 1 0 1 0") - 1 + 1; // and its newline
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(m_lines.Path(), unknown);
    return unknown ? 0
                   : static_cast<std::size_t>(
                         std::min(static_cast<std::uintmax_t>(m_count), size / SHORTEST_ROW));
}

void
FlowFile::ReadCount()
{
    if (!m_lines.NextAtSpaces())
    {
        throw m_lines.Error(
            "found an empty file, expected the number of flows, or the header "
            "src,dst,bytes,start_s");
    }
    if (m_lines.Fields().size() != 1)
    {
        throw m_lines.Error("found " + std::to_string(m_lines.Fields().size()) +
                            " fields, expected the number of flows alone on its line, or the "
                            "header src,dst,bytes,start_s");
    }
    m_count = m_lines.Whole(0, "flows", 0, MOST);
    m_countLine = m_lines.Line();
}

void
FlowFile::ReadCsvHeader()
{
    m_lines.NextAtCommas();
    m_fields = m_lines.Fields().size();
    const auto& names = ColumnNames();
    for (std::size_t i = 0; i < m_fields; i++)
    {
        const std::string name(m_lines.Fields()[i]);
        const auto known = std::find(names.begin(), names.end(), name);
        if (known == names.end())
        {
            throw m_lines.Refusal("header",
                                  name,
                                  "the columns src,dst,bytes,start_s, maybe pg and dport" +
                                      DidYouMean(name, names));
        }
        auto& place = m_places[static_cast<std::size_t>(known - names.begin())];
        if (place != ABSENT)
        {
            throw m_lines.Refusal("header", name, "each column once");
        }
        place = i;
    }
    for (const auto column : {SOURCE, DESTINATION, BYTES, START})
    {
        if (m_places[column] == ABSENT)
        {
            throw m_lines.Error("header: found no column '" + names[column] +
                                "', expected src,dst,bytes,start_s");
        }
    }
}

void
FlowFile::ChooseHpccForm()
{
    m_fields = m_lines.Fields().size();
    if (m_fields == 6)
    {
        m_places = {0, 1, 2, 3, 4, 5};
    }
    else if (m_fields == 5)
    {
        m_places = {0, 1, 2, ABSENT, 3, 4};
    }
    else
    {
        throw m_lines.Error("found " + std::to_string(m_fields) +
                            " fields, expected 6: src dst pg dport size start_s, or 5: src dst pg "
                            "size start_s");
    }
}

bool
FlowFile::NextLine()
{
    if (m_isCsv)
    {
        return m_lines.NextAtCommas();
    }
    const bool found = m_lines.NextAtSpaces();
    if (m_read == m_count)
    {
        if (found && m_lines.StartsWithNumber())
        {
            throw m_lines.Error("found one more flow, expected " + std::to_string(m_count) +
                                " as line " + std::to_string(m_countLine) + " says");
        }
        return false;
    }
    if (!found)
    {
        throw m_lines.Error("found the end of the file after " + std::to_string(m_read) +
                            " flows, expected " + std::to_string(m_count) + " as line " +
                            std::to_string(m_countLine) + " says");
    }
    if (m_fields == 0)
    {
        ChooseHpccForm();
    }
    return true;
}

bool
FlowFile::Next(FlowRow& row)
{
    if (!NextLine())
    {
        return false;
    }
    if (m_lines.Fields().size() != m_fields)
    {
        throw m_lines.Error("found " + std::to_string(m_lines.Fields().size()) +
                            " fields, expected " + std::to_string(m_fields) +
                            " as in the lines before");
    }
    const auto port = [this](Column column, const char* name) {
        const std::size_t place = m_places[column];
        return static_cast<uint16_t>(place == ABSENT ? 0
                                                     : m_lines.Whole(place, name, 0, MOST_PORT));
    };
    row.source = m_lines.Whole(m_places[SOURCE], "src", 0, MOST);
    row.destination = m_lines.Whole(m_places[DESTINATION], "dst", 0, MOST);
    row.priorityGroup = port(PRIORITY_GROUP, "pg");
    row.destinationPort = port(DESTINATION_PORT, "dport");
    row.bytes = Bytes(m_lines.Whole(m_places[BYTES], m_isCsv ? "bytes" : "size", 0, MOST));
    const double start = m_lines.Decimal(m_places[START], "start_s");
    if (start < 0 || start > MOST_START)
    {
        throw m_lines.Refusal(
            "start_s", m_lines.Fields()[m_places[START]], "from 0 to 1e6 seconds");
    }
    row.start = Time::Seconds(start);
    m_read++;
    return true;
}

} // namespace weir
