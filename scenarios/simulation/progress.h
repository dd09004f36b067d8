// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_PROGRESS_H
#define WEIR_SCENARIOS_SIMULATION_PROGRESS_H

#include "fabric/units.h"

#include <chrono>
#include <functional>
#include <ostream>
#include <string>

namespace weir
{

/** Progress of a run. */
struct RunProgress
{
    Time now;           //!< simulated time
    double fraction{0}; //!< fraction of the work done, 0 to 1; 0 while unknown

    /** For callers that need only the simulated time. */
    operator Time() const
    {
        return now;
    }
};

/**
 * A terminal line with the progress of a run. It is rewritten in place five times a second,
 * starting after one second, and erased when the run ends; shorter runs show nothing.
 */
class ProgressLine
{
  public:
    using Clock = std::chrono::steady_clock;

    /**
     * @param out the stream to write to
     * @param isTerminal whether @p out is a terminal; nothing is written otherwise
     * @param title the text before the progress
     * @param clock the current wall-clock time
     */
    ProgressLine(std::ostream& out,
                 bool isTerminal,
                 std::string title,
                 std::function<Clock::time_point()> clock = Clock::now);
    ~ProgressLine();

    /** Shows percent, simulated time and its rate, and the estimated remaining time. */
    void Update(const RunProgress& progress);

    /**
     * Shows that @p done of @p cases runs are finished and the current run is at @p now: percent
     * and the remaining time estimated from the mean time of the finished runs.
     */
    void Update(std::size_t done, std::size_t cases, Time now);

  private:
    bool IsDue();
    void Show(double fraction, const std::string& details);
    double Elapsed() const;

    std::ostream& m_out;
    bool m_isTerminal;
    std::string m_title;
    std::function<Clock::time_point()> m_clock;
    Clock::time_point m_begin;
    Clock::time_point m_due; //!< when the line is written next
    bool m_shown{false};
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_PROGRESS_H
