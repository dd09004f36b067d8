// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_INTERRUPTION_H
#define WEIR_SCENARIOS_COMMAND_INTERRUPTION_H

namespace weir
{

/** The user asked the process to stop (SIGINT, SIGTERM). */
struct Interrupted
{
    int signal{0};
};

/** From now on SIGINT and SIGTERM are noted instead of ending the process at once. */
void WatchInterruptions();

/** Throws Interrupted when a signal has been noted, so that unwinding removes unfinished files. */
void ThrowIfInterrupted();

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_INTERRUPTION_H
