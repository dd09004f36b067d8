// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_KERNELS_INDEX_DISTRIBUTION_H
#define WEIR_COMPUTE_MODEL_KERNELS_INDEX_DISTRIBUTION_H

#include "compute-model/models/layer-table.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/**
 * Which rows of a table look-ups go to: classes of rows. Each look-up is drawn again from them (the
 * independent reference model), or from a list of look-ups in any order, that is gone through again
 * when it ends.
 */
class IndexDistribution
{
  public:
    /** Every row alike. @throws std::invalid_argument without rows, or of more than 2^53. */
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

    /**
     * Classes that were counted in a list of so many look-ups: a row's probability is its count
     * over @p observed. @throws std::invalid_argument as Histogram, or when @p observed is not
     * above zero, or a row's count is no whole number.
     */
    static IndexDistribution Counted(std::vector<RowClass> classes, double observed);

    /** What @p table says of itself. */
    static IndexDistribution Of(const EmbeddingTable& table);

    /** A list of look-ups: rows that occur equally often are a class. */
    static IndexDistribution Observed(std::vector<uint64_t> indices);

    /**
     * Expected distinct rows of @p lookups look-ups: sum of 1 - (1 - p)^n; out of a list of N
     * look-ups with c of a row the sum of 1 - C(N - c, n) / C(N, n), all of them for n >= N.
     * O(classes)
     */
    double UniqueRows(double lookups) const;

    /**
     * Expected look-ups, of @p lookups, that miss a least-recently-used cache of @p capacity rows
     * that is empty at first. Its characteristic time T (Che, Tung, Wang 2002, "Hierarchical Web
     * caching systems", equation 5) is how many look-ups meet capacity distinct rows: sum of 1 -
     * e^(-pT) = capacity. The first T fill it; later ones miss rows that the last T did not meet:
     * capacity + (n - T) sum of p e^(-pT). Out of a list of N look-ups with c of a row, the last T
     * did not meet one's row with C(N - c, T) / C(N - 1, T). O(classes)
     */
    double Misses(double lookups, double capacity) const;

    /**
     * Reuse of distinct rows within @p lookups look-ups: the share of them that occur (0, 1], (1,
     * 2], (2, 4], ... (2^14, 2^15] and more times (Lin et al. 2024, arXiv 2404.12674, "reuse
     * factor"). A row's count is binomial, hypergeometric out of a list.
     */
    std::array<double, 17> ReuseFactors(double lookups) const;

    const std::vector<RowClass>& Classes() const
    {
        return m_classes;
    }

    double Rows() const;

    /** Of a uniform (0) or Zipf distribution; none of others. */
    std::optional<double> ZipfExponent() const
    {
        return m_exponent;
    }

    /** Of a list of look-ups how many there are; 0 where each is drawn again. */
    double ObservedLookups() const
    {
        return m_observed;
    }

  private:
    explicit IndexDistribution(std::vector<RowClass> classes);

    /** That a look-up of @p lookups meets a row of this probability. */
    double Seen(double probability, double lookups) const;

    /** That the @p window look-ups before one of a row of this probability meet another. */
    double UnseenBefore(double probability, double window) const;

    std::vector<RowClass> m_classes;
    std::optional<double> m_exponent;
    double m_observed{0};
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_INDEX_DISTRIBUTION_H
