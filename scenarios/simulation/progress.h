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

    /** The run has come to simulated time @p now. */
    void Update(Time now);

    /** @p done of @p cases runs are over, and the one under way has come to @p now. */
    void Update(std::size_t done, std::size_t cases, Time now);

  private:
    void Show(const std::string& place);

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
