// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_EMBEDDING_EXCHANGE_H
#define WEIR_COMPUTE_MODEL_GRAPH_EMBEDDING_EXCHANGE_H

#include "compute-model/graph/step-program.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/table-places.h"

namespace weir
{

/** An all-to-all over the replicas; of no bytes: there is none. */
struct ReplicaExchange
{
    Bytes bytes;
    uint16_t traffic{StepOp::EVEN};
};

/** What goes between the ranks that hold embedding tables for one micro-batch of each. */
struct EmbeddingExchange
{
    ReplicaExchange indices;   //!< from the samples' ranks to the rows'
    ReplicaExchange pooled;    //!< rows of whole tables, summed, from the tables' ranks to the
                               //!< samples'
    ReplicaExchange gradients; //!< theirs, back
    Bytes split; //!< partial sums of split tables, reduce-scattered; gradients gathered back
};

/**
 * What @p plan has to exchange: a rank with tables of S pooled elements gives each rank S elements
 * a sample of its micro-batch. Unequal parts are entered into @p graph. O(ranks squared)
 */
EmbeddingExchange ExchangeOf(const LayerTable& table,
                             const TablePlaces& places,
                             const ParallelPlan& plan,
                             StepGraph& graph);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_EMBEDDING_EXCHANGE_H
