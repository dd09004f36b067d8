// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_INPUT_ERROR_H
#define WEIR_SCENARIOS_YAML_INPUT_ERROR_H

#include <cstddef>
#include <stdexcept>
#include <string>

namespace weir
{

/**
 * Invalid input. what() is the single line for the user: "file:line:column: key: found ...,
 * expected ...". The main programs catch it once, print it and exit with 2.
 */
class InputError : public std::runtime_error
{
  public:
    /** Of a @p message of kilobytes, which quotes a long word, what() has both ends. */
    explicit InputError(const std::string& message)
        : std::runtime_error(Shortened(message))
    {
    }

  private:
    static constexpr std::size_t MAX_LENGTH = 8000; //!< bytes, above any list of names

    /** Both ends of @p text, of whole UTF-8 characters; a word that is cut remains one word. */
    static std::string Shortened(const std::string& text)
    {
        if (text.size() <= MAX_LENGTH)
        {
            return text;
        }
        std::size_t head = MAX_LENGTH / 2;
        std::size_t tail = text.size() - MAX_LENGTH / 2;
        const auto isWithin = [&text](std::size_t at) { return (text[at] & 0xc0) == 0x80; };
        for (int i = 0; i < 3; i++) // bytes of a character behind its first one
        {
            head -= isWithin(head) ? 1 : 0;
            tail += isWithin(tail) ? 1 : 0;
        }
        return text.substr(0, head) + "..." + text.substr(tail);
    }
};

/** Calls @p make and begins the messages of its InputErrors with @p location. */
template <typename Make>
auto
LocateErrors(const std::string& location, const Make& make)
{
    try
    {
        return make();
    }
    catch (const InputError& error)
    {
        throw InputError(location + ": " + error.what());
    }
}

/**
 * Calls @p make and converts its exceptions about invalid values to InputError.
 * @param location what the message begins with; empty: nothing
 */
template <typename Make>
auto
ConvertErrors(const std::string& location, const Make& make)
{
    const std::string prefix = location.empty() ? "" : location + ": ";
    try
    {
        return make();
    }
    catch (const InputError&)
    {
        throw;
    }
    catch (const std::invalid_argument& error)
    {
        throw InputError(prefix + error.what());
    }
    catch (const std::length_error& error)
    {
        throw InputError(prefix + error.what());
    }
    catch (const std::runtime_error& error) // GPUs of one job without a connecting path
    {
        throw InputError(prefix + error.what());
    }
}

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_INPUT_ERROR_H
