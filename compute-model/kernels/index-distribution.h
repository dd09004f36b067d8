// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_INDEX_DISTRIBUTION_H
#define WEIR_COMPUTE_MODEL_KERNELS_INDEX_DISTRIBUTION_H

#include "compute-model/models/embedding-table.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Which rows of a table look-ups go to: classes of rows, each look-up drawn anew from them (the
 * independent reference model).
 */
class IndexDistribution
{
  public:
    /** Every row alike. @throws std::invalid_argument without rows. */
    static IndexDistribution Uniform(uint64_t rows);

    /**
     * Row k with probability in proportion to k^-exponent, k = 1 .. rows: the first rows each a
     * class, the others in classes of rows at most 15 % apart. @throws std::invalid_argument
     * without rows or with a negative exponent.
     */
    static IndexDistribution Zipf(uint64_t rows, double exponent);

    /**
     * Given classes; probabilities are scaled to sum to one.
     * @throws std::invalid_argument when nothing is left to look up.
     */
    static IndexDistribution Histogram(std::vector<RowClass> classes);

    /** What @p table says of itself. */
    static IndexDistribution Of(const EmbeddingTable& table);

    /** What a list of indices shows: rows that occur equally often are a class. */
    static IndexDistribution Observed(std::vector<uint64_t> indices);

    /** Expected distinct rows of @p lookups look-ups: sum of 1 - (1 - p)^n. O(classes) */
    double UniqueRows(double lookups) const;

    /**
     * Expected look-ups, of @p lookups, that miss a least-recently-used cache of @p capacity rows
     * that is empty at first. Its characteristic time T (Che, Tung, Wang 2002, "Hierarchical Web
     * caching systems", equation 5) is how many look-ups meet capacity distinct rows: sum of 1 -
     * e^(-pT) = capacity. The first T fill it; later ones miss rows that the last T did not meet:
     * capacity + (n - T) sum of p e^(-pT). O(classes)
     */
    double Misses(double lookups, double capacity) const;

    /**
     * Reuse of distinct rows within @p lookups look-ups: the share of them that occur (0, 1], (1,
     * 2], (2, 4], ... (2^14, 2^15] and more times (Lin et al. 2024, arXiv 2404.12674, "reuse
     * factor"), each row at its expected count.
     */
    std::array<double, 17> ReuseFactors(double lookups) const;

    const std::vector<RowClass>& Classes() const
    {
        return m_classes;
    }

    double Rows() const;

  private:
    explicit IndexDistribution(std::vector<RowClass> classes);

    std::vector<RowClass> m_classes;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_INDEX_DISTRIBUTION_H
