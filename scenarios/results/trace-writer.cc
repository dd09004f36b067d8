// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/trace-writer.h"

#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr std::size_t BUFFER_BYTES = 1U << 20; //!< text kept before it is written

} // namespace

std::string
JsonQuoted(const std::string& text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TraceWriter::TraceWriter(const std::string& path, const std::string& option)
    : m_output(path, option, TIMELINE_FORMAT),
      m_stream(std::fopen(m_output.TemporaryPath().c_str(), "w"))
{
    if (!m_stream)
    {
        throw InputError(option + ": cannot write '" + path + "': " + std::strerror(errno));
    }
}

TraceWriter::~TraceWriter()
{
    if (m_stream)
    {
        std::fclose(m_stream);
    }
}

void
TraceWriter::BeginTrace(const std::string& members)
{
    m_buffer += "{" + members + ",\n\"traceEvents\":[";
}

void
TraceWriter::Commit(const std::string& members)
{
    m_buffer += "\n],\n" + members + "}\n";
    Flush();
    if (std::fclose(std::exchange(m_stream, nullptr)) != 0)
    {
        throw std::runtime_error("cannot write '" + m_output.Path() + "': " + std::strerror(errno));
    }
    m_output.Commit();
}

void
TraceWriter::NameProcess(uint32_t pid, const std::string& name)
{
    const std::string id = std::to_string(pid);
    Metadata("process_name", "\"pid\":" + id, "\"name\":" + JsonQuoted(name));
    Metadata("process_sort_index", "\"pid\":" + id, "\"sort_index\":" + id);
}

void
TraceWriter::NameThread(uint32_t pid, uint32_t tid, const std::string& name)
{
    const std::string id = std::to_string(tid);
    const std::string ids = "\"pid\":" + std::to_string(pid) + ",\"tid\":" + id;
    Metadata("thread_name", ids, "\"name\":" + JsonQuoted(name));
    Metadata("thread_sort_index", ids, "\"sort_index\":" + id);
}

void
TraceWriter::BeginEvent(
    const std::string& name, const char* category, uint32_t pid, uint32_t tid, Time start, Time end)
{
    BeginObject();
    Put("\"ph\":\"X\",\"name\":\"", name, "\",\"cat\":\"", category, "\",\"pid\":", pid);
    Put(",\"tid\":", tid, ",\"ts\":", start, ",\"dur\":", end - start);
    Put(",\"args\":{\"stream\":", tid);
}

void
TraceWriter::Counter(const std::string& name,
                     uint32_t pid,
                     Time time,
                     std::initializer_list<std::pair<const char*, uint64_t>> values)
{
    BeginObject();
    Put("\"ph\":\"C\",\"name\":\"", name, "\",\"pid\":", pid, ",\"ts\":", time, ",\"args\":");
    const char* before = "{";
    for (const auto& [key, value] : values)
    {
        Put(before, "\"", key, "\":", value);
        before = ",";
    }
    EndEvent();
}

void
TraceWriter::EndEvent()
{
    m_buffer += "}}";
    if (m_buffer.size() >= BUFFER_BYTES)
    {
        Flush();
    }
}

void
TraceWriter::BeginObject()
{
    m_buffer += m_first ? "\n{" : ",\n{";
    m_first = false;
}

void
TraceWriter::Metadata(const char* what, const std::string& ids, const std::string& arguments)
{
    BeginObject();
    Put("\"ph\":\"M\",\"name\":\"", what, "\",", ids, ",\"args\":{", arguments, "}}");
}

void
TraceWriter::Append(std::string_view text)
{
    m_buffer += text;
}

void
TraceWriter::Append(uint64_t number)
{
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    m_buffer.append(digits, end);
}

void
TraceWriter::Append(Time time)
{
    constexpr uint64_t PICOSECONDS = 1000000; // per microsecond
    const auto ps = static_cast<uint64_t>(std::max<int64_t>(0, time.ToPicoseconds()));
    Append(ps / PICOSECONDS);
    char fraction[7] = {'.'};
    uint64_t rest = ps % PICOSECONDS;
    for (int i = 6; i > 0; i--)
    {
        fraction[i] = static_cast<char>('0' + rest % 10);
        rest /= 10;
    }
    m_buffer.append(fraction, sizeof fraction);
}

void
TraceWriter::Flush()
{
    if (std::fwrite(m_buffer.data(), 1, m_buffer.size(), m_stream) != m_buffer.size())
    {
        throw std::runtime_error("cannot write '" + m_output.Path() + "': " + std::strerror(errno));
    }
    m_buffer.clear();
}

} // namespace weir
