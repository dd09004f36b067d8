// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_MODELS_EMBEDDING_TABLE_H
#define WEIR_COMPUTE_MODEL_MODELS_EMBEDDING_TABLE_H

#include <cstdint>
#include <vector>

namespace weir
{

/** Rows of an embedding table that are looked up equally often. */
struct RowClass
{
    double rows{0};
    double probability{0}; //!< of one of them, per look-up
};

/** One embedding table of a recommendation model: a sample sums some of its rows. */
struct EmbeddingTable
{
    uint64_t rows{0};
    uint32_t dim{0};               //!< elements of a row
    uint32_t pooling{1};           //!< rows that a sample looks up, on average
    double zipf{0};                //!< row k is looked up in proportion to k^-zipf; 0: all alike
    std::vector<RowClass> classes; //!< said instead of zipf; empty: zipf holds
    double observed{0}; //!< look-ups that the classes were counted in, which come again and again;
                        //!< 0: each look-up is drawn again

    double Parameters() const
    {
        return static_cast<double>(rows) * dim;
    }

    /** Elements that a sample looks up. */
    uint64_t LookedUp() const
    {
        return uint64_t{pooling} * dim;
    }
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_MODELS_EMBEDDING_TABLE_H
