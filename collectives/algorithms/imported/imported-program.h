// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PROGRAM_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PROGRAM_H

#include "collectives/collective.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * A collective that somebody else has written: MSCCL's form. Every rank has an input, an output
 * and a scratch buffer of numbered chunks, and some thread blocks, each of which sends to at most
 * one rank and receives from at most one on its channel, step by step.
 */
namespace weir
{

/** What a step does; the order of the name's parts is the order of the acts. */
enum class ImportedStepKind : uint8_t
{
    Send,               //!< source to the peer
    Recv,               //!< from the peer to destination
    RecvCopySend,       //!< from the peer to destination and on
    RecvReduceSend,     //!< from the peer plus source, on; not kept
    RecvReduceCopy,     //!< from the peer plus source, to destination
    RecvReduceCopySend, //!< as above, and on
    Copy,               //!< source to destination
    Reduce,             //!< source plus destination to destination
    Nothing             //!< waits for what it depends on
};

enum class ImportedBuffer : uint8_t
{
    Input,
    Output,
    Scratch
};

/** Some consecutive chunks of a buffer; how many is the step's. */
struct ImportedPlace
{
    ImportedBuffer buffer{ImportedBuffer::Input};
    uint32_t chunk{0};
};

struct ImportedStep
{
    ImportedStepKind kind{ImportedStepKind::Nothing};
    ImportedPlace source;
    ImportedPlace destination;
    uint32_t count{1}; //!< chunks
    int32_t block{-1}; //!< of the same rank, whose ...
    uint32_t after{0}; //!< ... step of this number must be done before this one starts
    uint32_t line{0};  //!< of the file
};

bool Receives(ImportedStepKind kind);
bool Sends(ImportedStepKind kind);
bool Reduces(ImportedStepKind kind);

/** Whether it reads its source (Writes: writes its destination). */
bool Reads(ImportedStepKind kind);
bool Writes(ImportedStepKind kind);

struct ImportedBlock
{
    static constexpr int32_t NOBODY = -1;

    int32_t sendTo{NOBODY}; //!< rank
    int32_t recvFrom{NOBODY};
    uint32_t channel{0};
    std::vector<ImportedStep> steps;
    uint32_t line{0}; //!< of the file
};

struct ImportedRank
{
    uint32_t chunks[3]{0, 0, 0}; //!< by ImportedBuffer
    std::vector<ImportedBlock> blocks;
    uint32_t line{0}; //!< of the file
};

struct ImportedProgram
{
    std::string file; //!< for errors
    CollectiveOp op{CollectiveOp::AllReduce};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    uint32_t chunks{1};  //!< of the call's bytes
    bool inPlace{false}; //!< whether it may run with input and output in one buffer
    bool outOfPlace{true};
    uint32_t root{0};
    Bytes smallest;                       //!< calls it is for
    Bytes largest{std::int64_t{1} << 58}; //!< as above, included
    std::vector<ImportedRank> ranks;
};

/** "FILE:LINE: ", which a complaint about that line begins with. */
std::string Located(const ImportedProgram& program, uint32_t line);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PROGRAM_H
