// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_NCCL_LISTING_H
#define WEIR_SCENARIOS_TRACES_NCCL_LISTING_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"

namespace weir
{

/** Whether @p bytes have a table of nccl-tests: text, or CSV with its columns. */
bool IsNcclTests(const std::string& bytes);

/** Lists the runs of a file of nccl-tests (ReadNcclTests); it has no ranks to play. */
TraceFile ListNcclTests(const TraceBytes& file);

/** Whether @p bytes have lines of NCCL_DEBUG=INFO. */
bool IsNcclLog(const std::string& bytes);

/**
 * Lists what a log of NCCL_DEBUG=INFO says: NCCL's version, communicators by their number of ranks,
 * channels, connections by transport, rings and trees; whatever stands before "NCCL INFO". It has
 * no ranks to play.
 */
TraceFile ListNcclLog(const TraceBytes& file);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_NCCL_LISTING_H
