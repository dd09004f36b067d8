// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PROGRAM_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PROGRAM_H

#include "collectives/collective.h"
#include "collectives/schedule/block-times.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * An imported collective, in MSCCL's form. Every rank has an input, an output and a scratch buffer
 * of numbered chunks, and some thread blocks. Each block sends to at most one rank and receives
 * from at most one on its channel, step by step.
 */
namespace weir
{

/** The action of a step; the parts of the name are in the order of the actions. */
enum class ImportedStepKind : uint8_t
{
    Send,               //!< send source to the peer
    Recv,               //!< receive from the peer into destination
    RecvCopySend,       //!< receive into destination, and send on
    RecvReduceSend,     //!< receive, add source, and send the sum on without keeping it
    RecvReduceCopy,     //!< receive, add source, and store the sum in destination
    RecvReduceCopySend, //!< as above, and send the sum on
    Copy,               //!< copy source to destination
    Reduce,             //!< add source to destination
    Nothing             //!< only waits for its dependency
};

enum class ImportedBuffer : uint8_t
{
    Input,
    Output,
    Scratch
};

/** The first of some consecutive chunks of a buffer; the step has their number. */
struct ImportedChunk
{
    ImportedBuffer buffer{ImportedBuffer::Input};
    uint32_t chunk{0};
};

struct ImportedStep
{
    ImportedStepKind kind{ImportedStepKind::Nothing};
    ImportedChunk source;
    ImportedChunk destination;
    uint32_t count{1}; //!< number of chunks
    int32_t block{-1}; //!< block of the same rank that it depends on; -1: none
    uint32_t after{0}; //!< step of that block which must be done before this one starts
    uint32_t line{0};  //!< in the file
};

/** The primitive that runs a step. A local copy or sum takes the time of a copy. */
PrimitiveKind PrimitiveOf(ImportedStepKind kind);

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
    uint32_t line{0}; //!< in the file
};

struct ImportedRank
{
    uint32_t chunks[3]{0, 0, 0}; //!< by ImportedBuffer
    std::vector<ImportedBlock> blocks;
    uint32_t line{0}; //!< in the file
};

struct ImportedProgram
{
    std::string file; //!< for error messages
    CollectiveOp op{CollectiveOp::AllReduce};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    uint32_t chunks{1};  //!< chunks into which the call's bytes are divided
    bool inPlace{false}; //!< may run with input and output in one buffer
    bool outOfPlace{true};
    uint32_t root{0};
    Bytes smallest;                //!< size range of the calls that it is for
    Bytes largest{MAX_CALL_BYTES}; //!< as above, inclusive
    std::vector<ImportedRank> ranks;
};

/** The prefix "FILE:LINE: " of a message about that line. */
std::string Located(const ImportedProgram& program, uint32_t line);

/**
 * Checks everything about a program that needs no execution: ranks, channels, blocks and steps that
 * exist, chunks within their buffers, buffers that fit the operation, one sender and one receiver
 * for each pair of ranks on a channel, and equally many chunks at both ends.
 *
 * @return the first fault as "FILE:LINE: words", empty if there is none. O(steps + blocks log
 *         blocks).
 */
std::string CheckImportedShape(const ImportedProgram& program);

/**
 * Checks that a program can run and meets its operation's postcondition. First its shape
 * (CheckImportedShape). Then, by symbolic execution: no step waits forever, nothing is read before
 * it is written, sums include every rank once and one chunk only, and every output is as required.
 * Finally no two steps access one chunk, one of them writing, without an order between them
 * (ImportedOrder; beyond 4096 blocks only a second run, which tries the blocks in the opposite
 * order, shows a missing dependency, and only where it changes what a step finds). Programs that
 * may run both in place and out of place are checked for both. Slots are unlimited here; whether
 * the protocol's slots suffice is checked when a schedule is made.
 *
 * @return the first fault as "FILE:LINE: words", empty if there is none. O(chunks moved x ranks /
 *         64).
 */
std::string CheckImportedProgram(const ImportedProgram& program);

/** A directed connection between two thread blocks of an imported program that name each other. */
struct ImportedPipe
{
    uint32_t fromRank;
    uint32_t fromBlock; //!< index in that rank
    uint32_t toRank;
    uint32_t toBlock;
    uint32_t channel;
};

/** The connections of a program: one for every sending block, in order of rank and block. */
std::vector<ImportedPipe> PipesOf(const ImportedProgram& program);

/** "FILE:LINE: rank R, block B, step S", the prefix of messages about a step. */
std::string LocationOf(const ImportedProgram& program,
                       uint32_t rank,
                       uint32_t block,
                       uint32_t step);

/** Number of the call's chunks in a rank's input (output). */
uint32_t InputChunks(const ImportedProgram& program, uint32_t rank);
uint32_t OutputChunks(const ImportedProgram& program, uint32_t rank);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_PROGRAM_H
