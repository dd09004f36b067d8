// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_GRAPH_H
#define WEIR_SCENARIOS_TRACES_TRACE_GRAPH_H

#include "scenarios/traces/trace-calls.h"
#include "scenarios/traces/trace.h"
#include "scenarios/workload/workload-file.h"

namespace weir
{

/**
 * Converts the result of ReadTraces and MatchCalls to a workload.
 *
 * A StepGraph has in-order streams, whereas traces are dependency graphs. Operations are assigned
 * to streams in one topological order over all ranks, by earliest recorded time. In-order streams
 * filled in such an order cannot deadlock. Events of one recorded stream stay on one stream. Other
 * events go to a stream whose last operation they depend on, otherwise to an empty stream,
 * otherwise to the stream that becomes free first; there they may wait for an operation that they
 * do not depend on, and Workload::remarks counts them. Dependencies that the stream order implies
 * are dropped. Ranks with equal programs share one. Complexity O((events + dependencies) x (log
 * events + streams)).
 *
 * @throws InputError when events wait for each other, with the first ranks and what each waits for.
 */
Workload MakeWorkload(const MatchedTraces& traces);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_GRAPH_H
