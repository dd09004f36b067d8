// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_SINGLE_RANK_ENGINE_H
#define WEIR_TESTS_COMPUTE_MODEL_SINGLE_RANK_ENGINE_H

#include "collectives/engines/analytical-engine.h"

namespace weir
{

/**
 * An AnalyticalEngine with the same times that does not state that calls are timed by class, so
 * that a training run executes every rank separately.
 */
class SingleRankEngine : public AnalyticalEngine
{
  public:
    using AnalyticalEngine::AnalyticalEngine;

    bool TimesByClass() const override
    {
        return false;
    }

    bool WantsClasses() const override
    {
        return true;
    }
};

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_SINGLE_RANK_ENGINE_H
