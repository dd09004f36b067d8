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

/** How far a run is. */
struct RunProgress
{
    Time now;           //!< simulated
    double fraction{0}; //!< of its work, 0 to 1; 0 while that is not known

    /** For those that ask for the time only. */
    operator Time() const
    {
        return now;
    }
};

/**
 * One line that says how far a run is, rewritten in place: from one second on, five times a
 * second, and wiped when the run ends. Runs that are over sooner show nothing.
 */
class ProgressLine
{
  public:
    using Clock = std::chrono::steady_clock;

    /**
     * @param out where; @param isTerminal whether it is one: nothing is written else
     * @param clock says how late it is
     */
    ProgressLine(std::ostream& out,
                 bool isTerminal,
                 std::string title,
                 std::function<Clock::time_point()> clock = Clock::now);
    ~ProgressLine();

    /** A run has come to @p place: percent, simulated time and its rate, what is left. */
    void Update(const RunProgress& place);

    /**
     * @p done of @p cases runs are over, and the one under way has come to @p now: percent and what
     * is left by the mean time of those that are over.
     */
    void Update(std::size_t done, std::size_t cases, Time now);

  private:
    bool IsDue();
    void Show(double fraction, const std::string& place);
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
