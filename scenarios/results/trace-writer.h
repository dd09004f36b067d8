// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_TRACE_WRITER_H
#define WEIR_SCENARIOS_RESULTS_TRACE_WRITER_H

#include "fabric/units.h"
#include "scenarios/results/output-file.h"

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weir
{

/** @p text as a JSON string, including the quotes. */
std::string JsonQuoted(const std::string& text);

/**
 * Writes a file in Chrome's trace format, event by event, as text; buffers at most 1 MiB. Times are
 * in microseconds with six decimals: exact to the picosecond.
 */
class TraceWriter
{
  public:
    /**
     * Opens the file.
     * @param option the option that names the file, for messages
     * @throws InputError when @p path cannot be written.
     */
    TraceWriter(const std::string& path, const std::string& option);
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    /** Begins the top-level object; @p members is the JSON text before the events. */
    void BeginTrace(const std::string& members);

    /**
     * Ends the top-level object with @p members after the events, and renames the file to its final
     * name.
     */
    void Commit(const std::string& members);

    void NameProcess(uint32_t pid, const std::string& name);
    void NameThread(uint32_t pid, uint32_t tid, const std::string& name);

    /**
     * Begins a complete event ("X"), up to and including args.stream; @p name must be JSON-escaped.
     */
    void BeginEvent(const std::string& name,
                    const char* category,
                    uint32_t pid,
                    uint32_t tid,
                    Time start,
                    Time end);
    void EndEvent();

    /**
     * Writes a counter event ("C"): the counter has @p values from @p time on; @p name must be
     * JSON-escaped.
     */
    void Counter(const std::string& name,
                 uint32_t pid,
                 Time time,
                 std::initializer_list<std::pair<const char*, uint64_t>> values);

    /** Adds an argument to the current event; a text must be JSON-escaped, without quotes. */
    template <typename Value>
    void Argument(const char* name, const Value& value)
    {
        static_assert(std::is_same_v<Value, uint64_t> || std::is_same_v<Value, Time> ||
                      std::is_same_v<Value, std::string>);
        const char* quote = std::is_same_v<Value, std::string> ? "\"" : "";
        Put(",\"", name, "\":", quote, value, quote);
    }

  private:
    void BeginObject();
    void Metadata(const char* what, const std::string& ids, const std::string& arguments);
    void Append(std::string_view text);
    void Append(uint64_t number);
    void Append(Time time); // in microseconds
    void Flush();

    template <typename... Parts>
    void Put(const Parts&... parts)
    {
        (Append(parts), ...);
    }

    OutputFile m_output;
    std::FILE* m_stream{nullptr};
    bool m_first{true}; //!< no event has been written yet
    std::string m_buffer;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_TRACE_WRITER_H
