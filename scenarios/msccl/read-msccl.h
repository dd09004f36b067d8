// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MSCCL_READ_MSCCL_H
#define WEIR_SCENARIOS_MSCCL_READ_MSCCL_H

#include "collectives/algorithms/imported/imported-program.h"

#include <string>

namespace weir
{

/**
 * An MSCCL algorithm file: algo{name, proto, nchannels, nchunksperloop, ngpus, coll, inplace,
 * outofplace, minBytes, maxBytes, root} > gpu{id, i_chunks, o_chunks, s_chunks} > tb{id, send,
 * recv, chan} > step{s, type, srcbuf, srcoff, dstbuf, dstoff, cnt, depid, deps}. Without inplace
 * and outofplace it is for calls out of place; without minBytes and maxBytes (or with a maxBytes of
 * 0) for all sizes; without root for root 0.
 *
 * @throws InputError with its place when the file cannot be read, is not XML,
 * lacks something, or is not a program that meets its operation's postcondition
 *         (CheckImportedProgram).
 */
ImportedProgram ReadMscclFile(const std::string& file);

/** As above, of the file's text; @p file is its name in errors. */
ImportedProgram ParseMscclText(const std::string& text, const std::string& file);

} // namespace weir

#endif // WEIR_SCENARIOS_MSCCL_READ_MSCCL_H
