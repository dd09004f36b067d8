// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_NS3_LOOP_H
#define WEIR_JOB_NS3_LOOP_H

#include "scenarios/simulation/run-scenario.h"

namespace weir
{

/**
 * Runs engines under ns3::Simulator, with one pending event. Results equal those of PlainLoop bit
 * by bit: every instant is visited at its own picosecond, whatever the simulator's resolution.
 *
 * The run owns the simulator: it is destroyed at the end.
 */
class Ns3Loop : public EngineLoop
{
  public:
    void Run(EngineSet& engines, const std::function<void(Time)>& progress) override;
};

} // namespace weir

#endif // WEIR_JOB_NS3_LOOP_H
