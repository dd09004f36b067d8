// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_BYTES_H
#define WEIR_SCENARIOS_TRACES_TRACE_BYTES_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir
{

/** The content of a file, or of one file of an archive. */
struct TraceBytes
{
    std::string name; //!< "a.tar.gz/b.et" for a file of an archive
    std::string bytes;
};

/**
 * Reads @p path and decompresses it if it is gzip. A tar archive (of any name) is expanded to its
 * regular files.
 * @throws InputError when the file cannot be read, is damaged, or expands to more than 2 GiB.
 */
std::vector<TraceBytes> ReadTraceBytes(const std::string& path);

constexpr const char* WHITE_SPACE = " \t\r\n";

/** Whether the first byte of @p bytes besides blanks is one of @p characters. */
inline bool
BeginsWithOneOf(std::string_view characters, std::string_view bytes)
{
    const std::size_t at = bytes.find_first_not_of(WHITE_SPACE);
    return at != std::string_view::npos && characters.find(bytes[at]) != std::string_view::npos;
}

/** The number whose little-endian bytes are @p bytes, at most eight. */
inline uint64_t
LittleEndian(std::string_view bytes)
{
    uint64_t number = 0;
    for (std::size_t i = 0; i < bytes.size(); i++)
    {
        number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return number;
}

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_BYTES_H
