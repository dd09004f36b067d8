// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_BYTES_H
#define WEIR_SCENARIOS_TRACES_TRACE_BYTES_H

#include <string>
#include <vector>

namespace weir
{

/** A file, or one of an archive. */
struct TraceBytes
{
    std::string name; //!< "a.tar.gz/b.et" of an archive
    std::string bytes;
};

/**
 * What @p path holds: uncompressed where it is gzip, the plain files of it where it is a tar
 * archive (of whatever name).
 * @throws InputError when it cannot be read, is damaged, or would be more than a few GiB.
 */
std::vector<TraceBytes> ReadTraceBytes(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_BYTES_H
