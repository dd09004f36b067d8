// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_GOAL_SCHEDULE_H
#define WEIR_SCENARIOS_TRACES_GOAL_SCHEDULE_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** An operation of a GOAL schedule (LogGOPSim, ATLAHS). */
struct GoalOp
{
    enum class Kind : uint8_t // values of the binary format
    {
        Send = 1,
        Recv = 2,
        Calc = 3
    };

    static constexpr uint32_t ANY = 0xffffffff; //!< wildcard source or tag

    Kind kind{Kind::Calc};
    uint32_t peer{0}; //!< rank
    uint64_t size{0}; //!< bytes; for Calc nanoseconds
    uint32_t tag{0};
    uint8_t cpu{0};
    uint8_t nic{0};
    std::vector<uint32_t> requires_;  //!< operations of this rank that must have ended before
    std::vector<uint32_t> irequires_; //!< operations of this rank that must have started before
};

/** The operations of all ranks. */
struct GoalSchedule
{
    std::vector<std::vector<GoalOp>> ranks;
};

/** Whether @p bytes begin like the text format, after comments. */
bool IsGoalText(const std::string& bytes);

/** Whether @p bytes begin like the binary format: 4223 or 2342, little endian. */
bool IsGoalBinary(const std::string& bytes);

/** Reads either format. @throws InputError with file and line, or rank and operation. */
GoalSchedule ReadGoal(const TraceBytes& file);
GoalSchedule ReadGoalText(const TraceBytes& file);
GoalSchedule ReadGoalBinary(const TraceBytes& file);

/** The text format: labels l1, l2, ... per rank, `requires` lines after each operation. */
std::string ToGoalText(const GoalSchedule& schedule);

/** The binary format (LogGOPSim, Goal.hpp). */
std::string ToGoalBinary(const GoalSchedule& schedule);

/**
 * Converts @p schedule to events; sends and receives match by (source, destination, tag) in order.
 */
TraceFile ToTrace(const GoalSchedule& schedule, const TraceBytes& file);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_GOAL_SCHEDULE_H
