// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_MAX_MIN_VARIABLE_H
#define WEIR_FABRIC_MAX_MIN_VARIABLE_H

#include <cstdint>
#include <limits>

/**
 * @file
 * What every max-min solver keeps of a variable and its path; max-min-system.h tells how.
 */
namespace weir::maxmin
{

constexpr double UNLIMITED = std::numeric_limits<double>::infinity();

/** A variable of a System. */
struct Variable
{
    double level{0};      //!< where the solver keeps no other for it
    double cap{0};        //!< of level
    double weight{0};     //!< in force
    double nextWeight{0}; //!< from the next Solve on
    double narrowest{0};  //!< when alone: the least capacity / multiplicity
    uint32_t first{0};    //!< of its path, among all steps
    uint32_t length{0};   //!< of its path

    enum : uint8_t
    {
        Off,   //!< not on its links
        Alone, //!< on them, no other variable is; idle or active, the solver does not see it
        Shared //!< on them, active, the solver's
    } standing{Off};

    bool changed{false}; //!< waits for the next Solve
    bool removed{false}; //!< its index waits for another variable
};

/** A link of a variable's path. */
struct Step
{
    uint32_t link{0xffffffff};
    uint32_t multiplicity{0};
    uint32_t position{0xffffffff}; //!< in the link's members
};

/** A variable on a link. */
struct Member
{
    double weight; //!< of the variable, times how often it crosses the link
    uint32_t variable;
    uint32_t step; //!< where this link is in the variable's path
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_MAX_MIN_VARIABLE_H
