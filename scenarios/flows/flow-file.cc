// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-file.h"

#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

namespace weir
{

namespace
{

constexpr int64_t MAX_WHOLE = std::numeric_limits<int64_t>::max();
constexpr int64_t MAX_PORT = std::numeric_limits<uint16_t>::max();
constexpr double MAX_START = 1e6; //!< seconds; leaves most of the range of Time to the flows

/** The columns of a CSV, in the order of FlowFile::Column. */
const std::vector<std::string> COLUMN_NAMES{"src", "dst", "pg", "dport", "bytes", "start_s"};

/** Keys of htsim's flows that are ignored: identifiers and triggers at the end of a flow. */
const std::vector<std::string> IGNORED_HTSIM_KEYS{
    "id", "prio", "send_done_trigger", "recv_done_trigger"};

/** Whether @p text equals @p word, which is in lower case, ignoring case. */
bool
IsWord(std::string_view text, std::string_view word)
{
    return LowerCase(std::string(text)) == word;
}

} // namespace

FlowFile::FlowFile(const std::string& path)
    : m_lines(path, "--flows")
{
    m_fieldOf.fill(ABSENT);
    if (m_lines.IsNextWithCommas())
    {
        m_form = Form::Csv;
        ReadCsvHeader();
    }
    else
    {
        ReadCount();
    }
}

void
FlowFile::CheckEndPoints(std::size_t count, const std::string& name) const
{
    if (m_nodesLine > 0 && m_nodes != static_cast<int64_t>(count))
    {
        throw InputError(m_lines.Path() + ":" + std::to_string(m_nodesLine) + ": Nodes: found '" +
                         std::to_string(m_nodes) + "', expected " + std::to_string(count) +
                         ", the " + name + "s of the topology");
    }
}

std::size_t
FlowFile::ExpectedFlows() const
{
    constexpr std::uintmax_t SHORTEST_ROW = sizeof("0 1 0 1 0") - 1 + 1; // with its newline
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
    if (IsWord(m_lines.Fields()[0], "nodes"))
    {
        m_form = Form::Htsim;
        ReadHtsimHeader();
        return;
    }
    if (m_lines.Fields().size() != 1)
    {
        throw m_lines.Error("found " + std::to_string(m_lines.Fields().size()) +
                            " fields, expected only the number of flows on its line, or the "
                            "header src,dst,bytes,start_s");
    }
    if (!m_lines.StartsWithNumber())
    {
        throw m_lines.Refusal("flows",
                              m_lines.Fields()[0],
                              "the number of flows, or a CSV header with commas: "
                              "src,dst,bytes,start_s");
    }
    m_count = m_lines.Whole(0, "flows", 0, MAX_WHOLE);
    m_countLine = m_lines.Line();
}

/** Reads the rest of the header; the current line is Nodes. */
void
FlowFile::ReadHtsimHeader()
{
    const auto value = [this](const char* name) {
        if (m_lines.Fields().size() != 2)
        {
            throw m_lines.Error(std::string(name) + ": found " +
                                std::to_string(m_lines.Fields().size() - 1) +
                                " values, expected one");
        }
        return m_lines.Whole(1, name, 0, MAX_WHOLE);
    };
    m_nodes = value("Nodes");
    m_nodesLine = m_lines.Line();
    if (!m_lines.NextAtSpaces() || !IsWord(m_lines.Fields()[0], "connections"))
    {
        throw m_lines.Error("found no line Connections after Nodes, expected the number of flows");
    }
    m_count = value("Connections");
    m_countLine = m_lines.Line();
}

InputError
FlowFile::WrongCount(bool hasMore) const
{
    return m_lines.Error("found " +
                         (hasMore
                              ? "one more flow"
                              : "the end of the file after " + std::to_string(m_read) + " flows") +
                         ", expected " + std::to_string(m_count) + " as line " +
                         std::to_string(m_countLine) + " says");
}

/** As Next, for lines `src->dst key value key value ...`. */
bool
FlowFile::NextHtsim(FlowRow& row)
{
    bool found = m_lines.NextAtSpaces();
    while (found && m_lines.Fields().size() == 2 && // Triggers, Failures: their number
           m_lines.Fields()[0].find("->") == std::string_view::npos)
    {
        if (m_lines.Whole(1, std::string(m_lines.Fields()[0]).c_str(), 0, MAX_WHOLE) != 0)
        {
            throw m_lines.Refusal(
                std::string(m_lines.Fields()[0]),
                m_lines.Fields()[1],
                "0: triggers and failures are not supported, only start times and events");
        }
        found = m_lines.NextAtSpaces();
    }
    if (!found && m_read == m_count)
    {
        return false;
    }
    if (!found || m_read == m_count)
    {
        throw WrongCount(found);
    }
    const auto& fields = m_lines.Fields();
    const std::string ends(fields[0]);
    const std::size_t arrow = ends.find("->");
    const auto whole = [&](const std::string& text) {
        const auto number = ParseNumber<int64_t>(text);
        if (!number || *number < 0)
        {
            throw m_lines.Refusal("src->dst", ends, "two whole numbers, as 0->13");
        }
        return *number;
    };
    if (arrow == std::string::npos || fields.size() % 2 == 0)
    {
        throw m_lines.Error("found '" + ends + "' and " + std::to_string(fields.size() - 1) +
                            " fields, expected src->dst and keys with values: start, size");
    }
    row = FlowRow();
    row.source = whole(ends.substr(0, arrow));
    row.destination = whole(ends.substr(arrow + 2));
    bool hasStart = false;
    bool hasSize = false;
    for (std::size_t i = 1; i < fields.size(); i += 2)
    {
        if (IsWord(fields[i], "start"))
        {
            const double start = m_lines.Decimal(i + 1, "start");
            if (start < 0 || start > MAX_START * 1e6)
            {
                throw m_lines.Refusal("start", fields[i + 1], "from 0 to 1e12 microseconds");
            }
            row.start = Time::Microseconds(start);
            hasStart = true;
        }
        else if (IsWord(fields[i], "size"))
        {
            row.bytes = Bytes(m_lines.Whole(i + 1, "size", 0, MAX_WHOLE));
            hasSize = true;
        }
        else if (IsWord(fields[i], "trigger"))
        {
            throw m_lines.Refusal("trigger", fields[i + 1], "a start: triggers are not supported");
        }
        else
        {
            if (!IsAmong(LowerCase(std::string(fields[i])), IGNORED_HTSIM_KEYS))
            {
                throw m_lines.Refusal(
                    "key", fields[i], "start, size, " + JoinNames(IGNORED_HTSIM_KEYS));
            }
        }
    }
    if (!hasStart || !hasSize)
    {
        throw m_lines.Error(std::string("found no ") + (hasStart ? "size" : "start") +
                            ", expected src->dst start t size bytes");
    }
    m_read++;
    return true;
}

void
FlowFile::ReadCsvHeader()
{
    m_lines.NextAtCommas();
    m_fields = m_lines.Fields().size();
    for (std::size_t i = 0; i < m_fields; i++)
    {
        const std::string name(m_lines.Fields()[i]);
        const auto known = std::find(COLUMN_NAMES.begin(), COLUMN_NAMES.end(), name);
        if (known == COLUMN_NAMES.end())
        {
            throw m_lines.Refusal("header",
                                  name,
                                  "the columns src,dst,bytes,start_s, optionally pg and dport" +
                                      DidYouMean(name, COLUMN_NAMES));
        }
        auto& field = m_fieldOf[static_cast<std::size_t>(known - COLUMN_NAMES.begin())];
        if (field != ABSENT)
        {
            throw m_lines.Refusal("header", name, "each column once");
        }
        field = i;
    }
    for (const auto column : {SOURCE, DESTINATION, BYTES, START})
    {
        if (m_fieldOf[column] == ABSENT)
        {
            throw m_lines.Error("header: found no column '" + COLUMN_NAMES[column] +
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
        m_fieldOf = {0, 1, 2, 3, 4, 5};
    }
    else if (m_fields == 5)
    {
        m_fieldOf = {0, 1, 2, ABSENT, 3, 4};
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
    if (m_form == Form::Csv)
    {
        return m_lines.NextAtCommas();
    }
    const bool isEnd = m_read == m_count;
    const bool found = isEnd ? m_lines.NextPastRemarks() : m_lines.NextAtSpaces();
    if (isEnd == found)
    {
        throw WrongCount(found);
    }
    if (isEnd)
    {
        return false;
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
    if (m_form == Form::Htsim)
    {
        return NextHtsim(row);
    }
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
        const std::size_t field = m_fieldOf[column];
        return static_cast<uint16_t>(field == ABSENT ? 0 : m_lines.Whole(field, name, 0, MAX_PORT));
    };
    row.source = m_lines.Whole(m_fieldOf[SOURCE], "src", 0, MAX_WHOLE);
    row.destination = m_lines.Whole(m_fieldOf[DESTINATION], "dst", 0, MAX_WHOLE);
    row.priorityGroup = port(PRIORITY_GROUP, "pg");
    row.destinationPort = port(DESTINATION_PORT, "dport");
    row.bytes = Bytes(
        m_lines.Whole(m_fieldOf[BYTES], m_form == Form::Csv ? "bytes" : "size", 0, MAX_WHOLE));
    const double start = m_lines.Decimal(m_fieldOf[START], "start_s");
    if (start < 0 || start > MAX_START)
    {
        throw m_lines.Refusal(
            "start_s", m_lines.Fields()[m_fieldOf[START]], "from 0 to 1e6 seconds");
    }
    row.start = Time::Seconds(start);
    m_read++;
    return true;
}

} // namespace weir
