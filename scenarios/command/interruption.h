// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_INTERRUPTION_H
#define WEIR_SCENARIOS_COMMAND_INTERRUPTION_H

#include <string>

namespace weir
{

/** The user asked the process to stop (SIGINT, SIGTERM), or the terminal went away (SIGHUP). */
struct Interrupted
{
    int signal{0};
    std::string kept{}; //!< what was written nevertheless; empty: nothing
};

/**
 * Installs signal handlers. SIGINT, SIGTERM and SIGHUP, unless ignored, are recorded for
 * ThrowIfInterrupted. When the process continues for another second, because nothing polls for the
 * signal or unwinding blocks, or when a second signal arrives, the process prints a message,
 * removes the files of RemoveIfInterrupted, and ends. It ends immediately in the same manner when
 * CPU time is used up (SIGXCPU), and without a message when nothing reads its output any more
 * (SIGPIPE). A file that exceeds the size limit (SIGXFSZ) is reported as unwritable, as on a full
 * disk.
 */
void WatchInterruptions();

/**
 * Registers a file that an interrupted process must not leave behind.
 * @throws std::length_error at the fifth file, or when the name is too long for the system.
 */
void RemoveIfInterrupted(const std::string& path);

/** The same for the temporary file of the output @p path (OutputFile); nothing where it is empty.
 */
void RemoveOutputIfInterrupted(const std::string& path);

/**
 * Makes the first signal only be recorded, without a time limit: results will be kept.
 * @param kept what is kept when a second signal ends the process; empty: nothing
 */
void KeepWhenInterrupted(const std::string& kept = "");

/** The recorded signal; 0: none. */
int PendingSignal();

/**
 * Throws Interrupted when a signal has been recorded, so that unwinding removes unfinished files.
 */
void ThrowIfInterrupted();

/**
 * As above, but throws RunStopped where the run @p keepsPartial results, so that it ends with what
 * it has.
 */
void StopIfInterrupted(bool keepsPartial);

/** Prints to standard error, after unwinding, what is kept. @return the exit code */
int EndInterrupted(const Interrupted& interrupted);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_INTERRUPTION_H
