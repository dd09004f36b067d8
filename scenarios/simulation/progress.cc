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
ProgressLine::Update(Time now)
{
    Show("simulated " + FormatSeconds(now.ToSeconds()));
}

void
ProgressLine::Update(std::size_t done, std::size_t cases, Time now)
{
    const std::string counted =
        cases == 1 ? "" : std::to_string(done) + " of " + std::to_string(cases) + " cases, ";
    Show(counted + "simulated " + FormatSeconds(now.ToSeconds()));
}

void
ProgressLine::Show(const std::string& place)
{
    if (!m_isTerminal)
    {
        return;
    }
    const auto wall = m_clock();
    if (wall < m_due)
    {
        return;
    }
    m_due = wall + INTERVAL;
    m_shown = true;
    const double seconds = std::chrono::duration<double>(wall - m_begin).count();
    m_out << "\r\033[K" << m_title << ": " << place << " in " << FormatSeconds(seconds)
          << std::flush;
}

} // namespace weir
