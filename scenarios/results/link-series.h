// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_LINK_SERIES_H
#define WEIR_SCENARIOS_RESULTS_LINK_SERIES_H

#include "fabric/transport/packet/port-observer.h"
#include "scenarios/results/record.h"

#include <vector>

namespace weir
{

/**
 * Turns changes of link rates, and packets that ports send, into bytes per time bin. Exact: the
 * integral of each link's piecewise constant rate over each bin, a packet's bytes being spread
 * evenly over the time that it takes to be sent. Bins without traffic are left out. Memory
 * O(links).
 */
class LinkSeries : public PortObserver
{
  public:
    /** @throws std::invalid_argument when @p binWidth is not positive. */
    LinkSeries(std::size_t links, Time binWidth, RecordSink& sink);

    /** The rate of a fluid on @p link is @p rate from @p now on. */
    void SetRate(LinkId link, Rate rate, Time now);

    void OnTransmit(
        LinkId link, unsigned trafficClass, uint32_t bytes, Time now, Time end) override;

    /** Closes every bin at @p now. */
    void Finish(Time now);

  private:
    struct Entry
    {
        Rate rate;       //!< of a fluid
        Rate packetRate; //!< of the packet that is sent until @ref packetEnd
        Time packetEnd;
        Time since;      //!< up to here the bytes are accounted for
        double bytes{0}; //!< in the bin of @ref since
    };

    void Settle(std::size_t link, Time now);

    Time m_binWidth;
    RecordSink& m_sink;
    std::vector<Entry> m_entries; //!< by LinkId
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_LINK_SERIES_H
