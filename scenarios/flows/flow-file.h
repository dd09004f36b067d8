// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_FILE_H
#define WEIR_SCENARIOS_FLOWS_FLOW_FILE_H

#include "fabric/units.h"
#include "scenarios/readers/located-lines.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weir
{

/** One flow as its file gives it. */
struct FlowRow
{
    int64_t source{0};
    int64_t destination{0};
    uint16_t priorityGroup{0};   //!< zero where the file has none
    uint16_t destinationPort{0}; //!< zero where the file has none
    Bytes bytes;
    Time start;
};

/**
 * The flows of a file, one after another, in constant memory. Its form is known by its content:
 *  - HPCC: a line with the number of flows, then `src dst pg dport size start_s` a flow, or
 *    `src dst pg size start_s` (ConWeave), the same throughout; text after the last is a remark;
 *  - CSV: a header with the columns src, dst, bytes, start_s in any order, maybe pg and dport too;
 *  - htsim (`.cm`, `.tm`): `Nodes n`, `Connections m`, then `src->dst [id i] start t size s` a
 * flow, with t in microseconds, as uet-htsim takes it. Flows that wait for triggers are refused.
 *
 * Sizes are bytes (64 bits); a start is in seconds from the beginning of the run. Whether an end
 * point exists is for whoever reads to say.
 */
class FlowFile
{
  public:
    /** @throws InputError when the file cannot be read or does not begin as one of its forms. */
    explicit FlowFile(const std::string& path);

    /**
     * Reads the next flow. @return false after the last one.
     * @throws InputError "file:line: field: found ..., expected ..." on a row that is no flow, or
     *         more or fewer of them than the first line says.
     */
    bool Next(FlowRow& row);

    /**
     * How many flows to make room for: what the first line announces, but no more than the file is
     * long enough for; zero where it does not say.
     */
    std::size_t ExpectedFlows() const;

    /** @throws InputError where the file is for another number of end points than @p count. */
    void CheckEndPoints(std::size_t count, const std::string& name) const;

    /** "file:line: @p name: found ..., expected ..." for the row that Next gave. */
    InputError Refusal(const char* name, int64_t found, const std::string& expected) const
    {
        return m_lines.Refusal(name, std::to_string(found), expected);
    }

    /** "file:line: message" for the row that Next gave. */
    InputError Error(const std::string& message) const
    {
        return m_lines.Error(message);
    }

  private:
    static constexpr std::size_t ABSENT = ~std::size_t{0};

    /** Where a row's values stand, by Column. */
    enum Column
    {
        SOURCE,
        DESTINATION,
        PRIORITY_GROUP,
        DESTINATION_PORT,
        BYTES,
        START,
        COLUMN_COUNT
    };

    enum class Form : uint8_t
    {
        Hpcc,
        Csv,
        Htsim
    };

    void ReadCount();
    void ReadCsvHeader();
    void ReadHtsimHeader();
    bool NextHtsim(FlowRow& row);
    bool NextLine();
    void ChooseHpccForm();

    LocatedLines m_lines;
    Form m_form{Form::Hpcc};
    uint64_t m_countLine{0};
    int64_t m_nodes{0};      //!< end points that the file is for, where it says
    uint64_t m_nodesLine{0}; //!< where it says so
    int64_t m_count{0};      //!< flows that the first line announces
    int64_t m_read{0};
    std::size_t m_fields{0}; //!< of each row; zero until the form is known
    std::array<std::size_t, COLUMN_COUNT> m_places{};
};

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_FILE_H
