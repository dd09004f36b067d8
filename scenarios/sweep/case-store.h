// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_CASE_STORE_H
#define WEIR_SCENARIOS_SWEEP_CASE_STORE_H

#include "scenarios/sweep/case-processes.h"

#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * A folder in which the cases of a sweep that have ended wait for the others: one JSON file a case,
 * complete or not there, so that a sweep that was stopped goes on and several processes or machines
 * share one. A case counts as ended only while its command, Weir's version and all files that it
 * read are what they were.
 */
class CaseStore
{
  public:
    explicit CaseStore(std::string folder);

    /** Before Keep. @throws InputError when the folder cannot be made. */
    void MakeFolder() const;

    /** How the command @p words, run in @p runFolder, ended; nothing where that is not known. */
    std::optional<EndedCase> Find(const std::vector<std::string>& words,
                                  const std::string& runFolder) const;

    /** @throws InputError when the folder cannot be written to. */
    void Keep(const std::vector<std::string>& words,
              const std::string& runFolder,
              const EndedCase& outcome) const;

    /** Forgets a case. */
    void Remove(const std::vector<std::string>& words, const std::string& runFolder) const;

    /** Removes the folder where nothing is left in it. */
    void RemoveFolder() const;

  private:
    std::string PathOf(const std::vector<std::string>& words, const std::string& runFolder) const;

    std::string m_folder;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_CASE_STORE_H
