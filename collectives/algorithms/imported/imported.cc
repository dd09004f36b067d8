// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/imported/imported-schedule.h"
#include "collectives/algorithms/point-to-point/point-to-point-check.h"
#include "collectives/algorithms/ring/ring-channels.h"

#include <stdexcept>

/**
 * @file
 * Programs that somebody else has written, as an algorithm: which one a call runs, and how.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return true; // whether there is a program is known when it is asked for
}

bool
IsRooted(CollectiveOp op)
{
    return op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce ||
           op == CollectiveOp::Gather || op == CollectiveOp::Scatter;
}

const ImportedProgram&
ProgramOf(const AlgorithmInputs& in)
{
    std::string others;
    for (const auto& program : *in.programs)
    {
        const CollectiveCall& call = in.call;
        if (program.op == call.op && program.ranks.size() == in.communicator.Size() &&
            program.smallest <= call.bytes && call.bytes <= program.largest &&
            (!IsRooted(call.op) || program.root == call.root))
        {
            return program;
        }
        others += "; " + program.file + " is for " + ToString(program.op) + " of " +
                  std::to_string(program.smallest.Count()) + " to " +
                  std::to_string(program.largest.Count()) + " bytes over " +
                  std::to_string(program.ranks.size()) + " ranks";
    }
    throw std::invalid_argument(std::string("no imported schedule for ") + ToString(in.call.op) +
                                " of " + std::to_string(in.call.bytes.Count()) + " bytes over " +
                                std::to_string(in.communicator.Size()) + " ranks" + others);
}

uint32_t
MaxChannels(const AlgorithmInputs& in)
{
    return ProgramOf(in).channels;
}

void
Choose(AlgorithmInputs& in)
{
    const ImportedProgram& program = ProgramOf(in);
    const auto& overrides = in.call.overrides;
    if (overrides.channels && *overrides.channels != program.channels)
    {
        throw std::invalid_argument(program.file + " has " + std::to_string(program.channels) +
                                    " channels, found " + std::to_string(*overrides.channels));
    }
    in.channels = program.channels;
    in.protocol = overrides.protocol.value_or(program.protocol);
}

StreamShape
Streams(const AlgorithmInputs& in)
{
    throw std::invalid_argument(ProgramOf(in).file +
                                ": an imported schedule has no closed form, only fidelity flow");
}

Schedule
BuildSchedule(const AlgorithmInputs& in)
{
    const ImportedProgram& program = ProgramOf(in);
    Schedule schedule = EmptySchedule(in, Algorithm::Imported);
    schedule.block = BlockTimesOf(in);
    schedule.channelCap = SliceCap(in);
    schedule.channels.push_back({ImportedSchedule(in, program), 1});
    if (const auto fault = CheckProgress(schedule); !fault.empty())
    {
        throw std::invalid_argument(program.file + ": with the slots of protocol " +
                                    ToString(in.protocol) + " " + fault);
    }
    return schedule;
}

/** Its data flow is CheckImportedProgram's. */
std::string
CheckOrder(const Schedule& schedule, const ScheduleClaim& claim)
{
    return CheckProgress(schedule);
}

} // namespace

const CollectiveAlgorithm IMPORTED_ALGORITHM{
    Algorithm::Imported,
    Supports,
    MaxChannels,
    nullptr,
    ChannelGraph::None,
    nullptr,
    true,
    Streams,
    BuildSchedule,
    Choose,
    CheckOrder,
};

} // namespace weir
