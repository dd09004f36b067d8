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
    std::string kept{}; //!< what was written all the same; empty: nothing
};

/**
 * From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, are noted for
 * ThrowIfInterrupted. Where the process goes on for a second, because nobody asks or unwinding has
 * to wait, and at the second signal, it says so and ends, without the files of RemoveIfInterrupted;
 * it ends so at once where CPU time is used up (SIGXCPU), and without a word
 * where nobody reads its output any more (SIGPIPE). A file that grows too long (SIGXFSZ) is one
 * that cannot be written, as on a full disk.
 */
void WatchInterruptions();

/**
 * Names a file that an interrupted process must not leave behind.
 * @throws std::length_error at the fifth file, or when the name is too long for the system.
 */
void RemoveIfInterrupted(const std::string& path);

/**
 * From now on the first signal is only noted, however long nobody asks: results will be kept.
 * @param kept what is kept all the same where a second one ends the process; empty: nothing
 */
void KeepWhenInterrupted(const std::string& kept = "");

/** The signal that was noted; 0: none. */
int NotedSignal();

/** Throws Interrupted when a signal has been noted, so that unwinding removes unfinished files. */
void ThrowIfInterrupted();

/** As above, but RunStopped where the run @p keepsPartial results: it ends with what it has. */
void StopIfInterrupted(bool keepsPartial);

/** After unwinding: says on standard error what is kept. @return the exit code */
int EndInterrupted(const Interrupted& interrupted);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_INTERRUPTION_H
