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
 * Distribution of look-ups over the rows of a table, as classes of rows. Look-ups are independent
 * draws (the independent reference model), or a list of look-ups in random order, which repeats
 * after its end.
 */
class IndexDistribution
{
  public:
    /** Equal probabilities. @throws std::invalid_argument without rows, or with more than 2^53. */
    static IndexDistribution Uniform(uint64_t rows);

    /**
     * Row k has a probability proportional to k^-exponent, k = 1 .. rows. Each of the first rows is
     * a class; later classes hold rows whose indices differ by at most 15 %.
     * @throws std::invalid_argument as Uniform, or with a negative exponent.
     */
    static IndexDistribution Zipf(uint64_t rows, double exponent);

    /**
     * Given classes; their probabilities are normalized.
     * @throws std::invalid_argument when a value is negative or no row is ever looked up.
     */
    static IndexDistribution Histogram(std::vector<RowClass> classes);

    /**
     * Classes that were counted in a list of @p observed look-ups: a row's probability is its count
     * over @p observed.
     * @throws std::invalid_argument as Histogram, when @p observed is not positive, or when a row's
     *         count is not an integer.
     */
    static IndexDistribution Counted(std::vector<RowClass> classes, double observed);

    /** Distribution that @p table specifies. */
    static IndexDistribution Of(const EmbeddingTable& table);

    /**
     * A list of look-ups; rows that occur equally often form a class.
     * @throws std::invalid_argument when it is empty.
     */
    static IndexDistribution Observed(std::vector<uint64_t> indices);

    /**
     * Expected number of distinct rows among n = @p lookups look-ups: the sum over rows of
     * 1 - (1 - p)^n. For a list of N look-ups with c look-ups of a row: the sum of
     * 1 - C(N - c, n) / C(N, n), and all rows for n >= N. Complexity O(classes).
     */
    double UniqueRows(double lookups) const;

    /**
     * Expected misses of n = @p lookups look-ups in an initially empty LRU cache of @p capacity
     * rows. The characteristic time T (Che, Tung, Wang 2002, "Hierarchical Web caching systems",
     * equation 5) is the number of look-ups that access capacity distinct rows:
     * sum of 1 - e^(-pT) = capacity. The first T look-ups fill the cache. A later look-up misses if
     * the previous T look-ups did not access its row. The total is capacity + (n - T) sum of p
     * e^(-pT). For a list of N look-ups with c look-ups of a row, the previous T did not access the
     * row with probability C(N - c, T) / C(N - 1, T). Complexity O(classes).
     */
    double Misses(double lookups, double capacity) const;

    /**
     * Reuse of distinct rows within @p lookups look-ups: the shares of them that occur (0, 1], (1,
     * 2], (2, 4], ... (2^14, 2^15] and more times (Lin et al. 2024, arXiv 2404.12674, "reuse
     * factor"). The count of a row is binomial, or hypergeometric for a list.
     */
    std::array<double, 17> ReuseFactors(double lookups) const;

    const std::vector<RowClass>& Classes() const
    {
        return m_classes;
    }

    double Rows() const;

    /** Exponent of a uniform (0) or Zipf distribution; none for others. */
    std::optional<double> ZipfExponent() const
    {
        return m_exponent;
    }

    /** Length of the list of look-ups; 0 for independent draws. */
    double ObservedLookups() const
    {
        return m_observed;
    }

  private:
    explicit IndexDistribution(std::vector<RowClass> classes);

    /** Probability that @p lookups look-ups access a row of this probability. */
    double Seen(double probability, double lookups) const;

    /**
     * Probability that the @p window look-ups before an access to a row of this probability do not
     * access it.
     */
    double UnseenBefore(double probability, double window) const;

    std::vector<RowClass> m_classes;
    std::optional<double> m_exponent;
    double m_observed{0};
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_KERNELS_INDEX_DISTRIBUTION_H
