// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/progress.h"

#include "scenarios/results/text-table.h"

#include <utility>

namespace weir
{

namespace
{

constexpr std::chrono::milliseconds PATIENCE{1000}; //!< shorter runs show nothing
constexpr std::chrono::milliseconds INTERVAL{200};
constexpr std::size_t TITLE_WIDTH = 40;

} // namespace

ProgressLine::ProgressLine(std::ostream& out,
                           bool isTerminal,
                           std::string title,
                           std::function<Clock::time_point()> clock)
    : m_out(out),
      m_isTerminal(isTerminal),
      m_title(Shorten(std::move(title), TITLE_WIDTH)),
      m_clock(std::move(clock)),
      m_begin(m_clock()),
      m_due(m_begin + PATIENCE)
{
}

ProgressLine::~ProgressLine()
{
    if (m_shown)
    {
        m_out << "\r\033[K" << std::flush;
    }
}

void
ProgressLine::Update(const RunProgress& progress)
{
    if (IsDue())
    {
        const double simulated = progress.now.ToSeconds();
        Show(progress.fraction,
             "simulated " + FormatSeconds(simulated) + " in " + FormatSeconds(Elapsed()) + " (" +
                 FormatSeconds(simulated / Elapsed()) + " a second)");
    }
}

void
ProgressLine::Update(std::size_t done, std::size_t cases, Time now)
{
    if (!IsDue())
    {
        return;
    }
    const std::string counted =
        cases == 1 ? "" : std::to_string(done) + " of " + std::to_string(cases) + " cases, ";
    const std::string simulated =
        now > Time() ? "simulated " + FormatSeconds(now.ToSeconds()) + " " : "";
    Show(static_cast<double>(done) / static_cast<double>(cases),
         counted + simulated + "in " + FormatSeconds(Elapsed()));
}

double
ProgressLine::Elapsed() const
{
    return std::chrono::duration<double>(m_clock() - m_begin).count();
}

/** Whether the line is to be rewritten now; schedules the next time if so. */
bool
ProgressLine::IsDue()
{
    if (!m_isTerminal)
    {
        return false;
    }
    const auto wall = m_clock();
    if (wall < m_due)
    {
        return false;
    }
    m_due = wall + INTERVAL;
    return true;
}

void
ProgressLine::Show(double fraction, const std::string& details)
{
    m_shown = true;
    m_out << "\r\033[K" << m_title << ": ";
    if (fraction > 0)
    {
        m_out << static_cast<int>(fraction * 100) << " %, ";
    }
    m_out << details;
    if (fraction > 0)
    {
        m_out << ", " << FormatSeconds(Elapsed() * (1 - fraction) / fraction) << " left";
    }
    m_out << std::flush;
}

} // namespace weir
