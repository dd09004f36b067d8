// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PARAMETERS_POLYMORPHIC_H
#define WEIR_FABRIC_PARAMETERS_POLYMORPHIC_H

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace weir
{

/**
 * A value of a class that derives from @p T. Copying it copies the whole object, and a const one
 * gives const access only (as std::polymorphic of C++26, P3019). A moved-from one may only be
 * assigned to or destroyed.
 */
template <typename T>
class Polymorphic
{
  public:
    template <typename D, typename = std::enable_if_t<std::is_base_of_v<T, D>>>
    Polymorphic(D value)
        : m_value(std::make_unique<D>(std::move(value))),
          m_copy([](const T& other) -> std::unique_ptr<T> {
              return std::make_unique<D>(static_cast<const D&>(other));
          })
    {
    }

    Polymorphic(const Polymorphic& other)
        : m_value(other.m_value ? other.m_copy(*other.m_value) : nullptr),
          m_copy(other.m_copy)
    {
    }

    Polymorphic(Polymorphic&& other) noexcept = default;

    Polymorphic& operator=(Polymorphic other) noexcept
    {
        std::swap(m_value, other.m_value);
        std::swap(m_copy, other.m_copy);
        return *this;
    }

    ~Polymorphic() = default;

    T& operator*()
    {
        return *m_value;
    }

    const T& operator*() const
    {
        return *m_value;
    }

    T* operator->()
    {
        return m_value.get();
    }

    const T* operator->() const
    {
        return m_value.get();
    }

    template <typename D>
    bool Is() const
    {
        return dynamic_cast<const D*>(m_value.get()) != nullptr;
    }

    /** The object as a @p D. @throws std::invalid_argument if it is of another class. */
    template <typename D>
    D& As()
    {
        return const_cast<D&>(std::as_const(*this).template As<D>());
    }

    template <typename D>
    const D& As() const
    {
        const auto* value = dynamic_cast<const D*>(m_value.get());
        if (value == nullptr)
        {
            throw std::invalid_argument("Polymorphic: found an object of another class");
        }
        return *value;
    }

  private:
    std::unique_ptr<T> m_value;
    std::unique_ptr<T> (*m_copy)(const T&);
};

} // namespace weir

#endif // WEIR_FABRIC_PARAMETERS_POLYMORPHIC_H
