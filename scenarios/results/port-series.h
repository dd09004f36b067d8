// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_PORT_SERIES_H
#define WEIR_SCENARIOS_RESULTS_PORT_SERIES_H

#include "fabric/transport/packet/port-observer.h"
#include "scenarios/results/record.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Aggregates queue lengths and pauses of ports per time bin. Reports the MAX_PORTS ports with the
 * longest queues (by the integral of bytes over time) and the MAX_PORTS ports that were paused, or
 * waited for credits, the longest.
 *
 * Means and times are exact integrals over each bin, summed over all data classes (control packets
 * have strict priority and occupy no buffer). Empty bins are omitted. All ports are watched, with
 * at most MAX_BINS bins in total. Beyond that, or where 32 bits cannot number the bins, the bin
 * width doubles and pairs of bins are merged. At most MAX_REPORTED_BINS bins are reported, by the
 * same merging.
 */
class PortSeries : public PortObserver
{
  public:
    static constexpr std::size_t MAX_PORTS = 64;
    static constexpr std::size_t MAX_BINS = std::size_t{1} << 19;          //!< about 30 MB
    static constexpr std::size_t MAX_REPORTED_BINS = std::size_t{1} << 17; //!< bins reported
    static constexpr std::size_t MAX_PAUSES = 100000; //!< stored one by one, 2.4 MB

    /** @throws std::invalid_argument when @p binWidth is not positive. */
    PortSeries(std::size_t links, Time binWidth, std::size_t maxBins = MAX_BINS);

    void OnQueue(LinkId link, unsigned trafficClass, int64_t bytes, Time now) override;
    void OnMark(LinkId link, unsigned trafficClass, Time now) override;
    void OnDrop(LinkId link, unsigned trafficClass, uint32_t bytes, Time now) override;
    void OnPause(LinkId link, unsigned trafficClass, bool isPaused, Time now) override;
    void OnCreditWait(LinkId link, unsigned trafficClass, bool isWaiting, Time now) override;

    /** Closes all bins and pauses at @p now and reports them to @p sinks, in order of LinkId. */
    void Finish(Time now, const RecordSinks& sinks);

  private:
    static constexpr std::size_t MAX_CLASSES = 8;

    struct Bin
    {
        int64_t number;
        double queued{0}; //!< integral of the queued bytes, bytes times ps
        int64_t maxQueued{0};
        int64_t waiting{0};     //!< ps with a non-empty queue
        int64_t paused{0};      //!< ps with a class paused
        int64_t creditWait{0};  //!< ps with a packet waiting for credits
        int64_t waitingHeld{0}; //!< ps with a non-empty queue while paused or waiting for credits
        uint32_t marks{0};
        uint32_t drops{0};
    };

    struct Port
    {
        int64_t since{0}; //!< ps up to which everything is accounted for
        int64_t bytes{0}; //!< in all queues
        std::array<int64_t, MAX_CLASSES> ofClass{};
        uint8_t paused{0};     //!< bit mask by class
        uint8_t uncredited{0}; //!< bit mask by class: a packet waits for credits
        Time pausedSince;      //!< valid while paused
        std::vector<Bin> bins; //!< in ascending order of their numbers
    };

    /** The port of @p link, with everything up to @p now accounted for. */
    Port& SettledPort(LinkId link, Time now);

    void Settle(Port& port, int64_t now);
    Bin& BinAt(Port& port, int64_t time);
    void Widen();
    bool DoubleWidth();
    void EndPause(LinkId link, Time now);
    std::vector<uint32_t> Busiest() const;

    int64_t m_width; //!< ps
    std::size_t m_maxBins;
    std::size_t m_bins{0};
    std::vector<Port> m_ports;         //!< indexed by LinkId
    std::vector<PauseRecord> m_pauses; //!< in order of their ends
    uint64_t m_pausesLeftOut{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_PORT_SERIES_H
