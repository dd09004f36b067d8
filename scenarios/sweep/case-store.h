// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_CASE_STORE_H
#define WEIR_SCENARIOS_SWEEP_CASE_STORE_H

#include "scenarios/sweep/case-processes.h"
#include "scenarios/sweep/sweep.h"

#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * A folder that keeps the finished cases of a sweep until all have ended: one JSON file per case,
 * written atomically, so that a stopped sweep can be resumed and several processes or machines can
 * share one. A case counts as finished only while its command, Weir's version and all files that it
 * read are unchanged.
 */
class CaseStore
{
  public:
    explicit CaseStore(std::string folder);

    /** Ends the claim, and removes the folder if it is empty and no other process claims it. */
    ~CaseStore();
    CaseStore(const CaseStore&) = delete;
    CaseStore& operator=(const CaseStore&) = delete;

    /**
     * Creates the folder and claims @p share of a sweep in it; call it before Keep. The claim ends
     * with this object, or with the process however that ends. It consists of locks (flock) of two
     * hidden files; on file systems without locks every claim is granted.
     * @throws InputError when the folder cannot be created or written to, or another process claims
     *         this share, or all of a sweep while this is a part, or the reverse.
     */
    void Claim(const ProcessShare& share);

    /**
     * The outcome of the command @p words, run in @p runFolder; nothing where it is not kept or
     * outdated.
     */
    std::optional<EndedCase> Find(const std::vector<std::string>& words,
                                  const std::string& runFolder) const;

    /** Keeps an outcome. @throws InputError when the folder cannot be written to. */
    void Keep(const std::vector<std::string>& words,
              const std::string& runFolder,
              const EndedCase& outcome) const;

    /** Removes a case. */
    void Remove(const std::vector<std::string>& words, const std::string& runFolder) const;

  private:
    /** A locked file. */
    struct Lock
    {
        std::string path;
        int descriptor{-1}; //!< -1: none
    };

    std::string PathOf(const std::vector<std::string>& words, const std::string& runFolder) const;
    bool TakeLock(Lock& lock, const std::string& name, bool isExclusive) const;

    std::string m_folder;
    Lock m_store; //!< exclusive for a whole sweep; several processes with shares hold it together
    Lock m_share; //!< of a process that runs a share
};

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_CASE_STORE_H
