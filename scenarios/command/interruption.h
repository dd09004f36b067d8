// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_INTERRUPTION_H
#define WEIR_SCENARIOS_COMMAND_INTERRUPTION_H

#include <string>

namespace weir
{

/** The user asked the process to stop (SIGINT, SIGTERM). */
struct Interrupted
{
    int signal{0};
};

/**
 * From now on SIGINT and SIGTERM are noted for ThrowIfInterrupted. Where nobody asks within a
 * second, and at the second signal, the process says so and ends, without the files of
 * RemoveIfInterrupted.
 */
void WatchInterruptions();

/**
 * Names a file that an interrupted process must not leave behind.
 * @throws std::length_error at the fifth file, or when the name is too long for the system.
 */
void RemoveIfInterrupted(const std::string& path);

/** Throws Interrupted when a signal has been noted, so that unwinding removes unfinished files. */
void ThrowIfInterrupted();

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_INTERRUPTION_H
