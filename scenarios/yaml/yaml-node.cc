// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/yaml-node.h"

#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace weir
{
namespace
{

/** " from 1 to 8", or only one bound if the other is the limit of the type. */
template <typename N>
std::string
RangeText(N min, N max, const std::string& minText, const std::string& maxText)
{
    const bool below = min > std::numeric_limits<N>::lowest();
    const bool above = max < std::numeric_limits<N>::max();
    if (below && above)
    {
        return " from " + minText + " to " + maxText;
    }
    return below ? " of at least " + minText : above ? " of at most " + maxText : "";
}

/** Whether the value of @p key may be the name of a base or a map with that base. */
bool
IsReference(const std::string& key)
{
    return key == "system" || key == "model";
}

void
Inherit(YamlValue& value)
{
    ++value.bases;
    for (auto& entry : value.entries)
    {
        Inherit(*entry.second);
    }
    for (auto& item : value.items)
    {
        Inherit(*item);
    }
}

void
CheckRead(const YamlValue& value, std::initializer_list<const char*> exempt)
{
    const bool isLeaf = value.kind == YamlKind::Scalar || value.kind == YamlKind::Null;
    if (isLeaf && !value.isRead && value.bases == 0)
    {
        throw InputError(value.Where() + ": " + value.Found() +
                         ", which has no effect here, expected it left out");
    }
    for (const auto& [key, below] : value.entries)
    {
        const bool isExempt = std::any_of(
            exempt.begin(), exempt.end(), [&name = key](const char* one) { return name == one; });
        if (!isExempt)
        {
            CheckRead(*below, exempt);
        }
    }
    for (const auto& item : value.items)
    {
        CheckRead(*item, exempt);
    }
}

/** Sets the location of a value to the setting itself and the path at which it was set. */
void
Relocate(YamlValue& value, const std::string& file, const std::string& path)
{
    value.file = file;
    value.path = path;
    value.mark = YamlMark{};
    value.keyMark = YamlMark{};
    for (auto& [key, below] : value.entries)
    {
        Relocate(*below, file, path + "." + key);
    }
    for (std::size_t i = 0; i < value.items.size(); ++i)
    {
        Relocate(*value.items[i], file, path + "." + std::to_string(i));
    }
}

} // namespace

std::string
YamlMark::In(const std::string& file, const std::string& path) const
{
    return file + (line == 0 ? "" : ":" + std::to_string(line) + ":" + std::to_string(column)) +
           (path.empty() ? "" : ": " + path);
}

std::string
PathBelow(const std::string& path, const std::string& key)
{
    return path.empty() ? key : path + "." + key;
}

std::shared_ptr<YamlValue>*
YamlValue::FindEntry(const std::string& key)
{
    for (auto& [name, value] : entries)
    {
        if (name == key)
        {
            return &value;
        }
    }
    return nullptr;
}

std::shared_ptr<YamlValue>
YamlValue::Clone() const
{
    auto copy = std::make_shared<YamlValue>(*this);
    for (auto& entry : copy->entries)
    {
        entry.second = entry.second->Clone();
    }
    for (auto& item : copy->items)
    {
        item = item->Clone();
    }
    return copy;
}

std::string
YamlValue::Where() const
{
    return mark.In(file, path);
}

std::string
YamlValue::Found() const
{
    switch (kind)
    {
    case YamlKind::Null:
        return "found nothing";
    case YamlKind::Sequence:
        return "found a list";
    case YamlKind::Map:
        return "found a map";
    case YamlKind::Scalar:
        break;
    }
    return "found '" + text + "'";
}

YamlNode::YamlNode(std::shared_ptr<YamlValue> state)
    : m_state(std::move(state))
{
}

bool
YamlNode::IsMap() const
{
    return m_state->kind == YamlKind::Map;
}

bool
YamlNode::IsSequence() const
{
    return m_state->kind == YamlKind::Sequence;
}

bool
YamlNode::IsScalar() const
{
    return m_state->kind == YamlKind::Scalar;
}

YamlNode
YamlNode::Get(const std::string& key) const
{
    if (auto found = Find(key))
    {
        return *found;
    }
    throw InputError(m_state->mark.In(m_state->file, PathBelow(m_state->path, key)) +
                     ": found nothing, expected a value for '" + key + "'");
}

void
YamlNode::ExpectMap() const
{
    if (!IsMap())
    {
        FailExpected("a map");
    }
}

std::optional<YamlNode>
YamlNode::Find(const std::string& key) const
{
    ExpectMap();
    auto* entry = m_state->FindEntry(key);
    return entry ? std::optional<YamlNode>(YamlNode(*entry)) : std::nullopt;
}

bool
YamlNode::Has(const std::string& key) const
{
    return Find(key).has_value();
}

std::optional<YamlNode>
YamlNode::FindPath(const std::string& dottedPath) const
{
    const auto [node, length] = FindDeepest(dottedPath);
    return length == dottedPath.size() ? std::optional(node) : std::nullopt;
}

std::pair<YamlNode, std::size_t>
YamlNode::FindDeepest(const std::string& dottedPath) const
{
    std::pair<YamlNode, std::size_t> deepest(*this, 0);
    for (const std::string& key : SplitText(dottedPath, '.'))
    {
        auto& [node, length] = deepest;
        const auto next = node.IsMap() ? node.Find(key) : std::nullopt;
        if (!next)
        {
            break;
        }
        length += (length > 0 ? 1 : 0) + key.size();
        node = *next;
    }
    return deepest;
}

void
YamlNode::CheckKeys(const std::vector<std::string>& names) const
{
    ExpectMap();
    for (const auto& [key, value] : m_state->entries)
    {
        if (!IsAmong(key, names))
        {
            throw InputError(value->keyMark.In(value->file, value->path) +
                             ": found the unknown key '" + key +
                             "', expected one of: " + JoinNames(names) + DidYouMean(key, names));
        }
    }
}

std::vector<std::string>
YamlNode::Keys() const
{
    ExpectMap();
    return Mapped<std::string>(m_state->entries, [&](const auto& entry) { return entry.first; });
}

std::vector<YamlNode>
YamlNode::Items() const
{
    if (!IsSequence())
    {
        FailExpected("a list");
    }
    return Mapped<YamlNode>(m_state->items, [&](const auto& item) { return YamlNode(item); });
}

std::vector<YamlNode>
YamlNode::ItemsOf(const std::string& expected) const
{
    auto items = Items();
    if (items.empty())
    {
        Fail("found an empty list, expected " + expected);
    }
    return items;
}

std::vector<std::string>
YamlNode::AsStrings() const
{
    return Each(&YamlNode::AsString);
}

std::string
YamlNode::AsString() const
{
    return Text("a text");
}

std::string
YamlNode::Text(const std::string& expected) const
{
    if (!IsScalar())
    {
        FailExpected(expected);
    }
    m_state->isRead = true;
    return m_state->text;
}

std::string
YamlNode::AsPathBesideFile() const
{
    const std::string path = AsString();
    const std::string file = File();
    const std::size_t slash = file.rfind('/');
    const bool isUnchanged = slash == std::string::npos || (!path.empty() && path.front() == '/');
    return isUnchanged ? path : file.substr(0, slash + 1) + path;
}

int64_t
YamlNode::AsInteger(int64_t min, int64_t max) const
{
    const std::string expected =
        "a whole number" + RangeText(min, max, std::to_string(min), std::to_string(max));
    const std::string text = Text(expected);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) // the bound may be the limit of the type
    {
        FailExpected("a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    }
    if (error != std::errc() || end != text.data() + text.size() || value < min || value > max)
    {
        FailExpected(expected);
    }
    return value;
}

uint32_t
YamlNode::AsCount(int64_t min, int64_t max) const
{
    return static_cast<uint32_t>(AsInteger(min, max));
}

uint64_t
YamlNode::AsSeed() const
{
    return static_cast<uint64_t>(AsInteger(0, std::numeric_limits<int64_t>::max()));
}

double
YamlNode::AsNumber(double min, double max) const
{
    const std::string expected =
        "a number" + RangeText(min, max, FormatNumber(min), FormatNumber(max));
    const std::string text = Text(expected);
    const auto value = ParseNumber<double>(text);
    if (!value || !std::isfinite(*value) || *value < min || *value > max)
    {
        FailExpected(expected);
    }
    return *value;
}

bool
YamlNode::AsBool() const
{
    const std::string text = Text("true or false");
    if (text != "true" && text != "false")
    {
        FailExpected("true or false");
    }
    return text == "true";
}

template <typename Q>
Q
YamlNode::AsQuantity(Q (*parse)(const std::string&), const std::string& expected) const
{
    const std::string text = Text(expected);
    return LocateErrors(Where(), [&] { return parse(text); });
}

Time
YamlNode::AsTime() const
{
    return AsQuantity(ParseTime, "a time with a unit, such as 150ns");
}

Rate
YamlNode::AsRate() const
{
    return AsQuantity(ParseRate, "a rate with a unit, such as 400Gbps");
}

Bytes
YamlNode::AsBytes() const
{
    return AsQuantity(ParseBytes, "a size with a unit, such as 40MiB");
}

double
YamlNode::AsPercent(double min, double max) const
{
    const double value = AsQuantity(ParsePercent, "a percentage, such as 3%");
    if (!(value >= min && value <= max))
    {
        const auto percent = [](double part) { // removes the error of binary fractions
            constexpr double DIGITS = 1e9;
            return FormatNumber(std::round(100 * part * DIGITS) / DIGITS);
        };
        FailExpected(percent(min) + "% to " + percent(max) + "%");
    }
    return value;
}

double
YamlNode::AsHertz() const
{
    return AsQuantity(ParseHertz, "a frequency with a unit, such as 1.98GHz");
}

template <typename Q>
Q
YamlNode::AboveZero(Q quantity, const char* expected) const
{
    if (!(quantity > Q()))
    {
        FailExpected(std::string(expected) + " above zero");
    }
    return quantity;
}

Time
YamlNode::AsTimeAboveZero() const
{
    return AboveZero(AsTime(), "a time");
}

Rate
YamlNode::AsRateAboveZero() const
{
    return AboveZero(AsRate(), "a rate");
}

Bytes
YamlNode::AsSizeAboveZero() const
{
    return AboveZero(AsBytes(), "a size");
}

std::string
YamlNode::Where() const
{
    return m_state->Where();
}

void
YamlNode::Fail(const std::string& message) const
{
    throw InputError(Where() + ": " + message);
}

void
YamlNode::FailExpected(const std::string& expected) const
{
    Fail(m_state->Found() + ", expected " + expected);
}

void
YamlNode::FailChoice(const std::vector<std::string>& names) const
{
    FailExpected("one of: " + JoinNames(names) + DidYouMean(m_state->text, names));
}

const std::string&
YamlNode::File() const
{
    return m_state->file;
}

bool
YamlNode::IsInherited() const
{
    return m_state->bases > 0;
}

bool
YamlNode::IsOver(const YamlNode& other) const
{
    return m_state->bases < other.m_state->bases;
}

void
YamlNode::SetInherited()
{
    Inherit(*m_state);
}

void
YamlNode::CheckAllRead(std::initializer_list<const char*> exempt) const
{
    CheckRead(*m_state, exempt);
}

void
YamlNode::MakeBase()
{
    auto base = std::make_shared<YamlValue>(*m_state); // keeps its location
    m_state->kind = YamlKind::Map;
    m_state->text.clear();
    m_state->entries = {{"base", std::move(base)}};
}

void
YamlNode::Set(const std::string& dottedPath, const std::string& text)
{
    const std::string name = "--set " + dottedPath + "=" + text;
    auto value = std::make_shared<YamlValue>();
    if (!text.empty())
    {
        value = ParseArgument(text, name).m_state;
    }
    Place(dottedPath, name, std::move(value));
}

void
YamlNode::SetText(const std::string& dottedPath, const std::string& text)
{
    auto value = std::make_shared<YamlValue>();
    value->kind = YamlKind::Scalar;
    value->text = text;
    Place(dottedPath, dottedPath, std::move(value));
}

void
YamlNode::Place(const std::string& dottedPath,
                const std::string& name,
                std::shared_ptr<YamlValue> value)
{
    Relocate(*value, name, PathBelow(m_state->path, dottedPath));

    std::shared_ptr<YamlValue>* slot = &m_state;
    std::string path = m_state->path;
    std::string above; // key of the slot
    for (const std::string& key : SplitText(dottedPath, '.'))
    {
        if ((*slot)->kind == YamlKind::Scalar && IsReference(above))
        {
            YamlNode(*slot).MakeBase();
        }
        above = key;
        YamlValue& parent = **slot;
        path = PathBelow(path, key);
        if (key.empty())
        {
            throw InputError(name + ": found an empty key, expected key.path=value");
        }
        if (parent.kind == YamlKind::Sequence)
        {
            const auto index = ParseNumber<std::size_t>(key);
            if (!index || *index >= parent.items.size())
            {
                throw InputError(name + ": " + path + ": found the index '" + key +
                                 "', expected a whole number below " +
                                 std::to_string(parent.items.size()));
            }
            slot = &parent.items[*index];
            continue;
        }
        if (parent.kind == YamlKind::Scalar)
        {
            throw InputError(name + ": " + path + ": " + parent.Found() + " above the key '" + key +
                             "', expected a map or a list");
        }
        parent.kind = YamlKind::Map; // a null value becomes a map
        slot = parent.FindEntry(key);
        if (!slot)
        {
            auto added = std::make_shared<YamlValue>();
            added->file = name;
            added->path = path;
            parent.entries.emplace_back(key, std::move(added));
            slot = &parent.entries.back().second;
        }
    }
    *slot = std::move(value);
}

void
YamlNode::Overlay(const YamlNode& over)
{
    ExpectMap();
    over.ExpectMap();
    m_state->file = over.m_state->file;
    m_state->path = over.m_state->path;
    m_state->mark = over.m_state->mark;
    m_state->keyMark = over.m_state->keyMark;
    for (const auto& [key, value] : over.m_state->entries)
    {
        auto* mine = m_state->FindEntry(key);
        if (!mine)
        {
            m_state->entries.emplace_back(key, value->Clone());
        }
        else if ((*mine)->kind == YamlKind::Map && value->kind == YamlKind::Map)
        {
            YamlNode(*mine).Overlay(YamlNode(value));
        }
        else
        {
            *mine = value->Clone();
        }
    }
}

} // namespace weir
