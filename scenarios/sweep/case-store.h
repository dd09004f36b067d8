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
 * A folder that keeps the finished cases of a sweep until all have ended: one JSON file per case,
 * written atomically, so that a stopped sweep can be resumed and several processes or machines can
 * share one. A case counts as finished only while its command, Weir's version and all files that it
 * read are unchanged.
 */
class CaseStore
{
  public:
    explicit CaseStore(std::string folder);

    /** Creates the folder; call it before Keep. @throws InputError when it cannot be created. */
    void MakeFolder() const;

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

    /** Removes the folder if it is empty. */
    void RemoveFolder() const;

  private:
    std::string PathOf(const std::vector<std::string>& words, const std::string& runFolder) const;

    std::string m_folder;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_CASE_STORE_H
