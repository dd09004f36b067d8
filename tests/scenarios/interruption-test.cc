// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/interruption.h"

#include "scratch-folder.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace weir
{
namespace
{

const auto STOPS = {SIGINT, SIGTERM, SIGHUP};

/** A worker that never ends, in progress when the process must stop. */
struct EndlessWork
{
    ~EndlessWork()
    {
        for (;;)
        {
            ::pause();
        }
    }
};

/** Handles the signal like main. */
[[noreturn]] void
RunAndReport(void (*run)(), int signal)
{
    WatchInterruptions();
    try
    {
        std::raise(signal);
        run();
    }
    catch (const Interrupted& interrupted)
    {
        std::exit(EndInterrupted(interrupted));
    }
    std::exit(0);
}

TEST(Interruption, UnwindingEndsAProcessThatAsks)
{
    for (const int signal : STOPS)
    {
        EXPECT_EXIT(RunAndReport(ThrowIfInterrupted, signal),
                    testing::ExitedWithCode(128 + signal),
                    "weir: interrupted; nothing was written");
    }
}

TEST(Interruption, NobodyWaitsForWorkThatDoesNotAsk)
{
    const auto work = [] { EndlessWork(); };
    EXPECT_EXIT(RunAndReport(work, SIGTERM),
                testing::ExitedWithCode(128 + SIGTERM),
                "weir: interrupted; nothing was written");
}

TEST(Interruption, NobodyWaitsForWorkersWhileItUnwinds)
{
    const ScratchFolder folder;
    const std::string file = folder / "a.partial";
    static std::string partial;
    partial = file;
    std::ofstream(file) << "half";
    const auto work = [] {
        RemoveIfInterrupted(partial);
        const EndlessWork worker;
        ThrowIfInterrupted();
    };
    EXPECT_EXIT(RunAndReport(work, SIGHUP),
                testing::ExitedWithCode(128 + SIGHUP),
                "weir: interrupted; nothing was written");
    EXPECT_EQ(folder.Files(), 0U);
}

// A second signal ends the process immediately, with the same message as the first.
TEST(Interruption, ASecondSignalSaysWhatIsKept)
{
    const auto work = [] {
        KeepWhenInterrupted("finished cases are kept in a.cases");
        std::raise(SIGINT);
    };
    EXPECT_EXIT(RunAndReport(work, SIGINT),
                testing::ExitedWithCode(128 + SIGINT),
                "weir: interrupted; finished cases are kept in a.cases");
}

TEST(Interruption, AnIgnoredSignalStaysIgnored)
{
    std::signal(SIGHUP, SIG_IGN); // as under nohup
    EXPECT_EXIT(RunAndReport(ThrowIfInterrupted, SIGHUP), testing::ExitedWithCode(0), "");
    std::signal(SIGHUP, SIG_DFL);
}

} // namespace
} // namespace weir
