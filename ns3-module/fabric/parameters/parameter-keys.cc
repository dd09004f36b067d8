// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/parameters/parameter-keys.h"

#include "fabric/parameters/partial-visitor.h"

namespace weir
{

namespace
{

class KeyList : public PartialVisitor
{
  public:
    std::vector<std::string> keys;

  private:
    void Any(const ParameterInfo& info) override
    {
        keys.emplace_back(info.key);
    }
};

} // namespace

std::vector<std::string>
KeysOf(Parameterized& component)
{
    KeyList list;
    component.VisitParameters(list);
    return std::move(list.keys);
}

} // namespace weir
