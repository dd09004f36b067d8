// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MSCCL_READ_MSCCL_H
#define WEIR_SCENARIOS_MSCCL_READ_MSCCL_H

#include "collectives/algorithms/imported/imported-program.h"

#include <string>

namespace weir
{

/**
 * Reads an MSCCL algorithm file: algo{name, proto, nchannels, nchunksperloop, ngpus, coll, inplace,
 * outofplace, minBytes, maxBytes, root} > gpu{id, i_chunks, o_chunks, s_chunks} > tb{id, send,
 * recv, chan} > step{s, type, srcbuf, srcoff, dstbuf, dstoff, cnt, depid, deps}. Without inplace
 * and outofplace it applies to out-of-place calls; without minBytes and maxBytes (or with a
 * maxBytes of 0) to all sizes; without root to root 0.
 *
 * @throws InputError with the location, when the file cannot be read, is not XML, lacks something,
 *         or is not a program that meets the postcondition of its operation (CheckImportedProgram).
 */
ImportedProgram ReadMscclFile(const std::string& file);

/** As above, from the file's text; @p file names it in errors. */
ImportedProgram ParseMscclText(const std::string& text, const std::string& file);

} // namespace weir

#endif // WEIR_SCENARIOS_MSCCL_READ_MSCCL_H
