// SPDX-License-Identifier: GPL-2.0-only
#include "run-recorder.h"

/** As WeirJobTypes, for programs that can write result files. */
extern "C" void
WeirRecorderTypes()
{
    ns3::RunRecorder::GetTypeId();
}
