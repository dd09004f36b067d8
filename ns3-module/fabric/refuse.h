// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_REFUSE_H
#define WEIR_FABRIC_REFUSE_H

#include <sstream>
#include <stdexcept>

/**
 * Throws std::invalid_argument if @p condition holds, as NS_ABORT_MSG_IF aborts.
 * @param message operands of operator<<; evaluated only then
 */
#define WEIR_REFUSE_IF(condition, message)                                                         \
    do                                                                                             \
    {                                                                                              \
        if (condition)                                                                             \
        {                                                                                          \
            std::ostringstream weirMessage;                                                        \
            weirMessage << message;                                                                \
            throw std::invalid_argument(weirMessage.str());                                        \
        }                                                                                          \
    } while (false)

#endif // WEIR_FABRIC_REFUSE_H
