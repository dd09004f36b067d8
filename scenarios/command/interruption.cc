// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/interruption.h"

#include "scenarios/results/output-file.h"
#include "scenarios/simulation/run-scenario.h"

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <unistd.h>

namespace weir
{

namespace
{

constexpr unsigned PATIENCE = 1; // second
constexpr std::size_t MAX_FILES = 4;
constexpr char FAREWELL[] = "weir: interrupted; nothing was written\n";

// State that a signal handler can read and write.
volatile std::sig_atomic_t g_signal = 0;    //!< 0: none received
volatile std::sig_atomic_t g_isPatient = 0; //!< no time limit after the first signal
volatile std::sig_atomic_t g_fileCount = 0;
std::array<std::array<char, PATH_MAX>, MAX_FILES> g_files;
std::array<char, PATH_MAX + sizeof(FAREWELL)> g_farewell;
volatile std::sig_atomic_t g_farewellSize = 0; // 0: FAREWELL

/** Removes unfinished files; async-signal-safe. */
void
RemoveFiles()
{
    for (std::sig_atomic_t i = 0; i < g_fileCount; ++i)
    {
        ::unlink(g_files[static_cast<std::size_t>(i)].data());
    }
}

/** Ends the process; async-signal-safe. */
[[noreturn]] void
Leave()
{
    RemoveFiles();
    const bool isOwn = g_farewellSize > 0;
    const auto written =
        ::write(STDERR_FILENO,
                isOwn ? g_farewell.data() : FAREWELL,
                isOwn ? static_cast<std::size_t>(g_farewellSize) : sizeof(FAREWELL) - 1);
    ::_exit(written < 0 ? 1 : 128 + g_signal);
}

void
Note(int signal)
{
    const bool isSecond = g_signal != 0;
    g_signal = signal;
    if (isSecond)
    {
        Leave();
    }
    if (g_isPatient == 0)
    {
        ::alarm(PATIENCE);
    }
}

void
OnGracePeriodEnd(int)
{
    Leave();
}

void
EndNow(int signal)
{
    g_signal = signal;
    Leave();
}

void
EndSilently(int signal)
{
    RemoveFiles();
    ::_exit(128 + signal);
}

} // namespace

void
WatchInterruptions()
{
    g_isPatient = 0; // also in the child of a process that set it
    g_farewellSize = 0;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    {
        if (std::signal(signal, Note) == SIG_IGN) // as under nohup
        {
            std::signal(signal, SIG_IGN);
        }
    }
    std::signal(SIGXCPU, EndNow);
    std::signal(SIGPIPE, EndSilently);
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGALRM, OnGracePeriodEnd);
}

void
RemoveIfInterrupted(const std::string& path)
{
    const auto count = static_cast<std::size_t>(g_fileCount);
    if (count == MAX_FILES || path.size() >= PATH_MAX)
    {
        throw std::length_error("RemoveIfInterrupted: no slot for '" + path + "'");
    }
    g_files[count].fill('\0');
    std::copy(path.begin(), path.end(), g_files[count].begin());
    g_fileCount = static_cast<std::sig_atomic_t>(count + 1);
}

void
RemoveOutputIfInterrupted(const std::string& path)
{
    if (!path.empty())
    {
        RemoveIfInterrupted(OutputFile::TemporaryName(path));
    }
}

void
KeepWhenInterrupted(const std::string& kept)
{
    if (!kept.empty())
    {
        const std::string farewell = "weir: interrupted; " + kept.substr(0, PATH_MAX) + "\n";
        std::copy(farewell.begin(), farewell.end(), g_farewell.begin());
        g_farewellSize = static_cast<std::sig_atomic_t>(farewell.size());
    }
    g_isPatient = 1;
}

int
PendingSignal()
{
    return g_signal;
}

void
ThrowIfInterrupted()
{
    if (g_signal != 0)
    {
        throw Interrupted{g_signal, {}};
    }
}

void
StopIfInterrupted(bool keepsPartial)
{
    if (g_signal != 0 && keepsPartial)
    {
        throw RunStopped();
    }
    ThrowIfInterrupted();
}

int
EndInterrupted(const Interrupted& interrupted)
{
    ::alarm(0);
    const std::string farewell =
        interrupted.kept.empty() ? FAREWELL : "weir: interrupted; " + interrupted.kept + "\n";
    std::cerr << farewell << std::flush;
    return 128 + interrupted.signal;
}

} // namespace weir
