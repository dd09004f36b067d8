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
 * A text file read line by line; each line is split into fields, and errors name file and line.
 *
 * Only one line is held at a time, so files of any length are read in constant memory. Blank lines
 * and lines that begin with # are skipped; carriage returns before newlines are white space.
 */
class LocatedLines
{
  public:
    /**
     * Opens @p path.
     * @param what the option that named the file, for messages
     * @throws InputError when the file cannot be read.
     */
    LocatedLines(std::string path, const std::string& what);

    /** Reads the next line and splits it at white space. @return false at the end of the file. */
    bool NextAtSpaces();

    /** As NextAtSpaces, split at commas; white space around fields is removed. */
    bool NextAtCommas();

    /** Whether the next line contains a comma; the line is not consumed. */
    bool IsNextWithCommas();

    /** The fields of the line; valid until the next line. */
    const std::vector<std::string_view>& Fields() const
    {
        return m_fields;
    }

    /** The number of the current line, from 1; at the end of the file, that of its last line. */
    uint64_t Line() const
    {
        return m_number;
    }

    const std::string& Path() const
    {
        return m_path;
    }

    /**
     * Reads the next line, which holds column names. @return all of them
     * @param columns the expected first columns
     * @param more what further columns are, such as "keys of the network"; empty: none allowed
     * @throws InputError at other columns.
     */
    std::vector<std::string> NextHeader(const std::vector<std::string>& columns,
                                        const std::string& more = "");

    /** As NextAtCommas. @throws InputError when the number of fields is not @p fields. */
    bool NextRow(std::size_t fields);

    /** Whether the line begins like a number; otherwise it is a remark, not data. */
    bool StartsWithNumber() const;

    /**
     * Reads to the next line at spaces that begins like a number, past remarks. @return whether
     * there is one: data where only remarks may follow
     */
    bool NextPastRemarks();

    /**
     * The field at @p index as a whole number. @throws InputError when it is not one in [@p min,
     * @p max].
     */
    int64_t Whole(std::size_t index, const char* name, int64_t min, int64_t max) const;

    /** The field at @p index as a finite decimal. @throws InputError when it is not one. */
    double Decimal(std::size_t index, const char* name) const;

    /** As Decimal, above zero. @param unit for messages, such as "seconds" @throws InputError */
    double Positive(std::size_t index, const char* name, const char* unit) const;

    /** "file:line: name: found 'text', expected ...". */
    InputError Refusal(const std::string& name,
                       std::string_view found,
                       const std::string& expected) const;

    /** "file:line". */
    std::string Where() const;

    /** "file:line: message". */
    InputError Error(const std::string& message) const;

  private:
    bool NextLine();

    std::string m_path;
    std::ifstream m_file;
    std::string m_line;
    uint64_t m_number{0};
    bool m_peeked{false}; //!< m_line is the next line, already read
    std::vector<std::string_view> m_fields;
};

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_LOCATED_LINES_H
