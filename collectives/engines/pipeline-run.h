// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_PIPELINE_RUN_H
#define WEIR_COLLECTIVES_ENGINES_PIPELINE_RUN_H

#include "collectives/planner.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weir
{

/**
 * The progress of a StreamPipeline's parts. Each moves all bytes of the pipeline, in up to three
 * pieces. A part begins when its head has crossed the part before, and its last bytes, as many as
 * the head, move after all bytes of the part before have.
 */
class PipelineRun
{
  public:
    /** Starts a piece of a part, by number, after a delay. */
    using Send = std::function<void(uint32_t part, Bytes bytes, Time delay)>;

    /**
     * @param bytes of @p pipeline that this run moves, at least 1
     * @param cap of its rate
     */
    PipelineRun(const StreamPipeline& pipeline, Bytes bytes, Rate cap);

    /** Begins the first part. */
    void Begin(const Send& send);

    /** The piece of a part has moved. @return whether the last part has ended */
    bool OnMoved(uint32_t part, Time now, const Send& send);

  private:
    struct Part
    {
        Bytes moved; //!< in pieces that have ended
        Bytes piece; //!< in the current piece
        Bytes head;  //!< of the next part
        Time delay;  //!< from when its head has crossed the part before until it begins
        Bytes free;  //!< how much may move before the part before has ended
        Time ready{Time::Infinite()}; //!< when its last bytes may move; infinite while the part
                                      //!< before moves
        bool waits{false};            //!< for the part before
    };

    void Go(uint32_t part, Time now, Time delay, const Send& send);

    Bytes m_bytes;
    std::vector<Part> m_parts;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_PIPELINE_RUN_H
