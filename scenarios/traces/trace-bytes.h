// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_BYTES_H
#define WEIR_SCENARIOS_TRACES_TRACE_BYTES_H

#include <string>
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

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_BYTES_H
