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

struct FlowRow
{
    int64_t source{0};
    int64_t destination{0};
    uint16_t priorityGroup{0};   //!< 0 where the file has none
    uint16_t destinationPort{0}; //!< 0 where the file has none
    Bytes bytes;
    Time start;
};

/**
 * Reads the flows of a file one after another, in constant memory. The format is recognized by the
 * content:
 * - HPCC: a line with the number of flows, then `src dst pg dport size start_s` per flow, or `src
 *   dst pg size start_s` (ConWeave), the same in all lines; text after the last flow is a remark;
 * - CSV: a header with the columns src, dst, bytes, start_s in any order, optionally pg and dport;
 * - htsim (`.cm`, `.tm`): `Nodes n`, `Connections m`, then `src->dst [id i] start t size s` per
 *   flow, with t in microseconds, as in uet-htsim. Flows that wait for triggers are refused.
 *
 * Sizes are bytes (64 bits); starts are seconds from the beginning of the run. The caller checks
 * whether end points exist.
 */
class FlowFile
{
  public:
    /**
     * @throws InputError when the file cannot be read or does not begin as one of these formats.
     */
    explicit FlowFile(const std::string& path);

    /**
     * Reads the next flow. @return false after the last one.
     * @throws InputError "file:line: field: found ..., expected ..." on an invalid flow, or when
     *         the number of flows is not that of the first line.
     */
    bool Next(FlowRow& row);

    /**
     * How many flows to reserve memory for: the number that the file announces, limited by what its
     * length allows; 0 where it announces none.
     */
    std::size_t ExpectedFlows() const;

    /** @throws InputError where the file states a number of end points other than @p count. */
    void CheckEndPoints(std::size_t count, const std::string& name) const;

    /** The error "file:line: @p name: found ..., expected ..." for the flow that Next returned. */
    InputError Refusal(const char* name, int64_t found, const std::string& expected) const
    {
        return m_lines.Refusal(name, std::to_string(found), expected);
    }

    /** The error "file:line: message" for the flow that Next returned. */
    InputError Error(const std::string& message) const
    {
        return m_lines.Error(message);
    }

  private:
    static constexpr std::size_t ABSENT = ~std::size_t{0};

    /** Values of a flow, as indices of m_fieldOf. */
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

    /** The error of one flow more, or fewer flows, than the file states. */
    InputError WrongCount(bool hasMore) const;

    LocatedLines m_lines;
    Form m_form{Form::Hpcc};
    uint64_t m_countLine{0};
    int64_t m_nodes{0};      //!< number of end points stated by the file
    uint64_t m_nodesLine{0}; //!< line that states it; 0: none
    int64_t m_count{0};      //!< number of flows stated by the file
    int64_t m_read{0};
    std::size_t m_fields{0}; //!< fields per line; 0 until the format is known
    std::array<std::size_t, COLUMN_COUNT> m_fieldOf{};
};

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_FILE_H
