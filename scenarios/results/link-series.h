// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_LINK_SERIES_H
#define WEIR_SCENARIOS_RESULTS_LINK_SERIES_H

#include "fabric/routing/routing.h"
#include "scenarios/results/record.h"

#include <vector>

namespace weir
{

/**
 * Converts link rates and packet transmissions to bytes per link and time bin. Exact: integrates
 * each link's piecewise constant rate over each bin, and spreads each packet evenly over its
 * transmission time. Bins without traffic are omitted. Memory O(links). Every function that adds
 * traffic throws InputError beyond MAX_BINS bins, as soon as the current rate of a link is certain
 * to fill them.
 */
class LinkSeries
{
  public:
    /** Maximum number of rows of /link_series; more would take several GB and minutes to write. */
    static constexpr int64_t MAX_BINS = 100'000'000;

    /** Minimum bin width; a 400 Gb/s link carries 50 bytes in it. */
    static constexpr Time MIN_WIDTH = Time::Nanoseconds(1);

    /**
     * Lower bound on the number of bins of @p width with traffic when @p bytes cross @p route: a
     * bin holds at most the link's rate times the width.
     */
    static double MinBins(const Routing& routing, RouteId route, Bytes bytes, Time width);

    /** @throws InputError when @p bins bins, each of @p width, are more than MAX_BINS. */
    static void ExpectFit(double bins, Time width);

    /** @throws std::invalid_argument when @p binWidth is not positive. */
    LinkSeries(std::size_t links, Time binWidth, RecordSinks sinks);

    /** Sets the rate of @p link to @p rate from @p now on. */
    void SetRate(LinkId link, Rate rate, Time now);

    /**
     * Adds a packet of @p bytes that is transmitted over @p link from @p now to @p end, after the
     * earlier packets. All its bytes count: Finish adds those not transmitted yet to the last bin.
     */
    void AddPacket(LinkId link, double bytes, Time now, Time end);

    /** Closes all bins at @p now. */
    void Finish(Time now);

  private:
    struct Entry
    {
        Rate rate;
        Time since;       //!< time up to which bytes are accounted for
        double bytes{0};  //!< bytes in the bin of @ref since
        Time sending;     //!< end of the current packet transmission
        double unsent{0}; //!< bytes of the packet to be sent after @ref since
    };

    void Settle(std::size_t link, Time now);

    /** Passes a bin to the sinks. @throws InputError beyond MAX_BINS. */
    void ReportBin(LinkBinRecord bin);

    Time m_binWidth;
    RecordSinks m_sinks;
    int64_t m_bins{0};            //!< bins passed to the sinks
    std::vector<Entry> m_entries; //!< indexed by LinkId
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_LINK_SERIES_H
