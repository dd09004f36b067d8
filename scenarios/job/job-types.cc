// SPDX-License-Identifier: GPL-2.0-only
#include "collective-job.h"
#include "training-job.h"

/**
 * Programs that link the library of jobs ask their linker for this name, and so have the object
 * types of jobs by name (--PrintGroup=Weir, ObjectFactory, Config paths) though they mention none.
 */
extern "C" void
WeirJobTypes()
{
    ns3::CollectiveJob::GetTypeId();
    ns3::CollectiveRuntime::GetTypeId();
    ns3::TrainingJob::GetTypeId();
}
