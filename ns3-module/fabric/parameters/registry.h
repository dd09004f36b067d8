// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PARAMETERS_REGISTRY_H
#define WEIR_FABRIC_PARAMETERS_REGISTRY_H

#include "fabric/parameters/polymorphic.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/**
 * Components of one sort by name, each as a prototype with default values. A registry is a plain
 * value: adding a component to one does not affect others. @p T has Name().
 */
template <typename T>
class Registry
{
  public:
    /** @throws std::invalid_argument if there is a component with that name. */
    void Add(Polymorphic<T> prototype)
    {
        if (Find(prototype->Name()) != nullptr)
        {
            throw std::invalid_argument("Registry: found '" + std::string(prototype->Name()) +
                                        "' again, expected names that differ");
        }
        m_prototypes.push_back(std::move(prototype));
    }

    /** The prototype with that name; null if there is none. */
    const Polymorphic<T>* Find(const std::string& name) const
    {
        for (const Polymorphic<T>& prototype : m_prototypes)
        {
            if (name == prototype->Name())
            {
                return &prototype;
            }
        }
        return nullptr;
    }

    /** The names, in the order in which they were added. */
    std::vector<std::string> Names() const
    {
        std::vector<std::string> names;
        for (const Polymorphic<T>& prototype : m_prototypes)
        {
            names.emplace_back(prototype->Name());
        }
        return names;
    }

    auto begin() const
    {
        return m_prototypes.begin();
    }

    auto end() const
    {
        return m_prototypes.end();
    }

  private:
    std::vector<Polymorphic<T>> m_prototypes;
};

} // namespace weir

#endif // WEIR_FABRIC_PARAMETERS_REGISTRY_H
