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
 * Turns what happens at ports into queue lengths and pauses by time bin, of the MAX_PORTS ports
 * with the longest queues (bytes times time) and as many that were paused, or waited for credits,
 * for longest.
 *
 * Means and times are exact integrals over each bin, all classes of data together (control packets
 * go first and fill no buffer). Bins with nothing of all that are left out. All
 * ports are watched, with at most MAX_BINS bins together: past that, and where 32 bits do not
 * number them, bins of twice the width take the place of two each. Of those that are told of there
 * are at most MAX_TOLD, by the same means.
 */
class PortSeries : public PortObserver
{
  public:
    static constexpr std::size_t MAX_PORTS = 64;
    static constexpr std::size_t MAX_BINS = std::size_t{1} << 19; //!< about 30 MB
    static constexpr std::size_t MAX_TOLD = std::size_t{1} << 17; //!< bins
    static constexpr std::size_t MAX_PAUSES = 100000;             //!< kept one by one, 2.4 MB

    /** @throws std::invalid_argument when @p binWidth is not positive. */
    PortSeries(std::size_t links, Time binWidth, std::size_t maxBins = MAX_BINS);

    void OnQueue(LinkId link, unsigned trafficClass, int64_t bytes, Time now) override;
    void OnMark(LinkId link, unsigned trafficClass, Time now) override;
    void OnDrop(LinkId link, unsigned trafficClass, uint32_t bytes, Time now) override;
    void OnPause(LinkId link, unsigned trafficClass, bool isPaused, Time now) override;
    void OnCreditWait(LinkId link, unsigned trafficClass, bool isWaiting, Time now) override;

    /** Closes all bins and pauses at @p now and tells @p sink, port by port in order of links. */
    void Finish(Time now, RecordSink& sink);

  private:
    static constexpr std::size_t MAX_CLASSES = 8;

    struct Bin
    {
        int64_t number;
        double queued{0}; //!< integral of the bytes that wait, bytes times ps
        int64_t maxQueued{0};
        int64_t waiting{0};     //!< ps with a queue
        int64_t paused{0};      //!< ps
        int64_t creditWait{0};  //!< ps
        int64_t waitingHeld{0}; //!< ps with a queue and either
        uint32_t marks{0};
        uint32_t drops{0};
    };

    struct Port
    {
        int64_t since{0}; //!< ps: up to here all is accounted for
        int64_t bytes{0}; //!< of all queues
        std::array<int64_t, MAX_CLASSES> ofClass{};
        uint8_t paused{0};      //!< bit by class
        uint8_t uncredited{0};  //!< bit by class: a packet waits for credits
        int64_t pausedSince{0}; //!< ps, while it is
        std::vector<Bin> bins;  //!< in the order of numbers
    };

    struct Pause
    {
        uint32_t link;
        int64_t started; //!< ps
        int64_t finished;
    };

    void Settle(Port& port, int64_t now);
    Bin& BinAt(Port& port, int64_t time);
    void Widen();
    bool DoubleWidth();
    void EndPause(uint32_t link, int64_t now);
    std::vector<uint32_t> Busiest() const;

    int64_t m_width; //!< ps
    std::size_t m_maxBins;
    std::size_t m_bins{0};
    std::vector<Port> m_ports;   //!< by LinkId
    std::vector<Pause> m_pauses; //!< in the order of their ends
    uint64_t m_pausesLeftOut{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_PORT_SERIES_H
