// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_LOCATED_LINES_H
#define WEIR_SCENARIOS_READERS_LOCATED_LINES_H

#include "scenarios/yaml/input-error.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace weir
{

/**
 * A text file read line by line, each line cut into fields, with errors that name file and line.
 *
 * Holds one line at a time, so files of any length are read in constant memory. Blank lines and
 * lines that begin with # are passed over; carriage returns before newlines are white space.
 */
class LocatedLines
{
  public:
    /**
     * Opens @p path.
     * @param what the option that named the file, for the message
     * @throws InputError when it cannot be read.
     */
    LocatedLines(std::string path, const std::string& what);

    /** Goes to the next line and cuts it at white space. @return false at the end of the file. */
    bool NextAtSpaces();

    /** As NextAtSpaces, cut at commas; fields lose the white space around them. */
    bool NextAtCommas();

    /** Whether the file's next line has a comma; it is not used up. */
    bool IsNextWithCommas();

    /** The fields of the line; valid until the next line. */
    const std::vector<std::string_view>& Fields() const
    {
        return m_fields;
    }

    /** The line's number, from 1; at the end of the file that of its last line. */
    uint64_t Line() const
    {
        return m_number;
    }

    const std::string& Path() const
    {
        return m_path;
    }

    /**
     * Goes to the next line, the names of columns.
     * @return all of them, the first of which are @p columns
     * @param more what further columns are, "keys of the network"; empty: there are none
     * @throws InputError when they are others.
     */
    std::vector<std::string> NextHeader(const std::vector<std::string>& columns,
                                        const std::string& more = "");

    /** As NextAtCommas. @throws InputError when the line has not so many fields. */
    bool NextRow(std::size_t fields);

    /** Whether the line begins as a number does: else it is a remark, not a row. */
    bool StartsWithNumber() const;

    /** The field at @p index as a whole number. @throws InputError when it is none, or not in
     * [@p least, @p most]. */
    int64_t Whole(std::size_t index, const char* name, int64_t least, int64_t most) const;

    /** The field at @p index as a finite decimal. @throws InputError when it is none. */
    double Decimal(std::size_t index, const char* name) const;

    /** As Decimal. @param unit "seconds". @throws InputError when it is not above zero. */
    double Positive(std::size_t index, const char* name, const char* unit) const;

    /** "file:line: name: found 'text', expected ...". */
    InputError Refusal(const std::string& name,
                       std::string_view found,
                       const std::string& expected) const;

    /** "file:line: message". */
    InputError Error(const std::string& message) const;

  private:
    bool NextLine();

    std::string m_path;
    std::ifstream m_file;
    std::string m_line;
    uint64_t m_number{0};
    bool m_peeked{false}; //!< m_line is the line that Next goes to
    std::vector<std::string_view> m_fields;
};

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_LOCATED_LINES_H
