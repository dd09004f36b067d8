// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_GRAPH_H
#define WEIR_SCENARIOS_TRACES_TRACE_GRAPH_H

#include "scenarios/traces/trace-calls.h"
#include "scenarios/traces/trace.h"
#include "scenarios/workload/workload-file.h"

namespace weir
{

/**
 * Makes a workload of what ReadTraces and MatchCalls have found.
 *
 * A StepGraph has in-order streams, traces have graphs: operations are put on streams in one order
 * over all ranks, in which every operation stands behind what it waits for on any rank
 * (topological, earliest recorded time first). In-order streams filled in such an order cannot
 * deadlock. Events of one recorded stream keep to one stream; others go where the last operation is
 * one that they wait for, else to a free one, else to the one that gets free first: then they may
 * wait for an operation that they do not depend on, which Workload::remarks count. Of dependencies
 * those stay that the order of streams does not imply. Ranks whose programs are equal share one.
 * O((events + dependencies) x (log events + streams)).
 *
 * @throws InputError where events wait for each other: the first ranks, and what each waits for.
 */
Workload MakeWorkload(const MatchedTraces& traces);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_GRAPH_H
