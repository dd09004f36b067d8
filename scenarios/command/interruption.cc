// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/interruption.h"

#include <csignal>

namespace weir
{

namespace
{

volatile std::sig_atomic_t g_signal = 0; //!< what a signal handler can write to; 0: none came

void
Note(int signal)
{
    if (g_signal != 0)
    {
        std::signal(signal, SIG_DFL); // asked twice: end at once
        std::raise(signal);
    }
    g_signal = signal;
}

} // namespace

void
WatchInterruptions()
{
    std::signal(SIGINT, Note);
    std::signal(SIGTERM, Note);
}

void
ThrowIfInterrupted()
{
    if (g_signal != 0)
    {
        throw Interrupted{g_signal};
    }
}

} // namespace weir
