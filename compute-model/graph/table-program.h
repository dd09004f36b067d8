// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_TABLE_PROGRAM_H
#define WEIR_COMPUTE_MODEL_GRAPH_TABLE_PROGRAM_H

#include "compute-model/graph/embedding-exchange.h"
#include "compute-model/graph/step-program.h"
#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/table-places.h"

#include <cstdint>

namespace weir
{

/** The dense passes of a table of layers; all ranks refer to the same ones. */
struct TableSegments
{
    /** @param convolutions as TableForward has it */
    TableSegments(KernelTable& kernels,
                  const LayerTable& table,
                  const ParallelPlan& plan,
                  Precision convolutions);

    SegmentSequence bottomForward; //!< up to where embedding tables join; without them, all
    SegmentSequence topForward;    //!< from there
    SegmentSequence topBackward;   //!< down to there
    SegmentSequence bottomBackward;
};

/** What the programs of a table's step are written from. */
struct TableSource
{
    const LayerTable& table;
    const ParallelPlan& plan;
    const TableSegments& segments;
    const TablePlaces& places;
    const EmbeddingExchange& exchange;
};

/** Writes what @p rank does in one step; see BuildTableStep. */
StepProgram BuildTableProgram(const TableSource& source, uint32_t rank, KernelTable& kernels);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_TABLE_PROGRAM_H
