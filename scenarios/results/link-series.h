// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_LINK_SERIES_H
#define WEIR_SCENARIOS_RESULTS_LINK_SERIES_H

#include "fabric/routing/routing.h"
#include "scenarios/results/record.h"

#include <vector>

namespace weir
{

/**
 * Turns what links carry, as rates and as packets, into bytes per time bin. Exact: the integral of
 * each link's piecewise constant rate over each bin, and each packet evenly over the time in which
 * it is sent. Bins without traffic are left out. Memory O(links). Each throws InputError beyond
 * MAX_BINS bins, as soon as what a link carries fills them for certain.
 */
class LinkSeries
{
  public:
    /** More rows of /link_series than a file should have: some GB, and minutes to write. */
    static constexpr int64_t MAX_BINS = 100'000'000;

    /** That of a bin that is asked for: a link of 400 Gb/s carries 50 bytes in it. */
    static constexpr Time MIN_WIDTH = Time::Nanoseconds(1);

    /**
     * Bins of @p width in which the links of @p route have traffic of @p bytes, at least: none
     * holds more of a link's bytes than its rate times the width.
     */
    static double LeastBins(const Routing& routing, RouteId route, Bytes bytes, Time width);

    /** @throws InputError when @p bins, of @p width, are more than MAX_BINS. */
    static void ExpectFit(double bins, Time width);

    /** @throws std::invalid_argument when @p binWidth is not positive. */
    LinkSeries(std::size_t links, Time binWidth, RecordSink& sink);

    /** The rate of @p link is @p rate from @p now on. */
    void SetRate(LinkId link, Rate rate, Time now);

    /**
     * A packet of @p bytes is sent over @p link from @p now to @p end, after those before it. All
     * of it counts, also what would come after Finish: in the last bin.
     */
    void AddPacket(LinkId link, double bytes, Time now, Time end);

    /** Closes every bin at @p now. */
    void Finish(Time now);

  private:
    struct Entry
    {
        Rate rate;
        Time since;       //!< up to here the bytes are accounted for
        double bytes{0};  //!< in the bin of @ref since
        Time sending;     //!< until then a packet is sent
        double unsent{0}; //!< bytes of it after @ref since
    };

    void Settle(std::size_t link, Time now);

    /** @throws InputError beyond MAX_BINS. */
    void TellBin(LinkBinRecord bin);

    Time m_binWidth;
    RecordSink& m_sink;
    int64_t m_bins{0};            //!< told
    std::vector<Entry> m_entries; //!< by LinkId
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_LINK_SERIES_H
