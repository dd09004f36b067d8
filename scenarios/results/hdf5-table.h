// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_HDF5_TABLE_H
#define WEIR_SCENARIOS_RESULTS_HDF5_TABLE_H

#include "fabric/units.h"
#include "scenarios/results/hdf5-file.h"

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weir
{

/** Description of a column, stored with it. */
struct ColumnInfo
{
    std::string name;
    std::string units;     //!< "s", "B", "B s-1", "1"; "" for text and identifiers
    std::string longName;  //!< description in one phrase
    std::string catalog{}; //!< path of the text dataset that this column's values index; "" if none
};

/** A growing one-dimensional dataset: chunked, shuffled, deflated, written chunk by chunk. */
class Hdf5Column
{
  public:
    static constexpr std::size_t CHUNK_BYTES = 65536;

    /** The rows that are not written yet, at most one chunk. */
    using Rows = std::variant<std::vector<double>,
                              std::vector<float>,
                              std::vector<int64_t>,
                              std::vector<uint32_t>,
                              std::vector<std::string>>;

    /** Creates the dataset @p group / info.name with elements of the type of @p rows. */
    Hdf5Column(hid_t file, const std::string& group, const ColumnInfo& info, Rows rows);

    template <typename T>
    void Append(T value)
    {
        auto& rows = std::get<std::vector<T>>(m_rows);
        rows.push_back(std::move(value));
        if (rows.size() == CHUNK_BYTES / sizeof(T))
        {
            Flush();
        }
    }

    /** Writes the buffered rows to the file. */
    void Flush();

    hid_t Get() const
    {
        return m_dataset.Get();
    }

  private:
    void Write(const void* values, std::size_t count);

    Rows m_rows;
    Hdf5Handle m_type;
    Hdf5Handle m_dataset;
    std::size_t m_written{0}; //!< rows written to the file
};

/**
 * Value that a column stores: seconds of a Time, bytes of Bytes, the number of an enumerator, the
 * index of an Id.
 */
template <typename T>
auto
ColumnValue(const T& value)
{
    if constexpr (std::is_same_v<T, Time>)
    {
        return value.ToSeconds();
    }
    else if constexpr (std::is_same_v<T, Bytes>)
    {
        return value.Count();
    }
    else if constexpr (std::is_same_v<T, uint64_t>)
    {
        return static_cast<int64_t>(value);
    }
    else if constexpr (std::is_enum_v<T>)
    {
        return static_cast<uint32_t>(value);
    }
    else if constexpr (std::is_arithmetic_v<T>)
    {
        return value;
    }
    else if constexpr (std::is_convertible_v<T, std::string>)
    {
        return std::string(value);
    }
    else
    {
        return value.Index();
    }
}

/** Writes the numbers of @p rows rows as the column @p name, the dimension scale of @p columns. */
void AttachRowNumbers(hid_t file,
                      const std::string& group,
                      const std::string& name,
                      std::size_t rows,
                      const std::list<Hdf5Column>& columns);

/**
 * A table as a group with one dataset per column. It has one row per object of type @p Row; each
 * column stores a function or member of the object. The counting column holds the row numbers; it
 * is a dimension scale attached to all other columns.
 */
template <typename Row>
class Hdf5RowTable
{
  public:
    /**
     * Creates group @p group ("/ops") with the counting column @p rowName ("op"). An empty @p
     * rowName omits the counting column, for long tables whose columns are coordinates themselves.
     * @param maxRows limit of the rows written; further rows are only counted
     */
    Hdf5RowTable(Hdf5File& file,
                 const std::string& group,
                 const std::string& rowName,
                 std::size_t maxRows = SIZE_MAX)
        : m_file(file.Get()),
          m_group(group),
          m_rowName(rowName),
          m_maxRows(maxRows)
    {
        file.AddGroup(group);
    }

    /**
     * Adds a column that stores ColumnValue(@p value), where @p value is a function or member of
     * Row.
     */
    template <typename F>
    void Add(const ColumnInfo& info, F value)
    {
        using T = decltype(ColumnValue(std::decay_t<std::invoke_result_t<F, const Row&>>(
            std::invoke(value, std::declval<const Row&>()))));
        Hdf5Column& column = m_columns.emplace_back(m_file, m_group, info, std::vector<T>());
        m_appends.push_back([&column, value](const Row& row) {
            const auto& found = std::invoke(value, row);
            column.Append(ColumnValue(found));
        });
    }

    /** Whether another row fits within maxRows; counts the row as left out if not. */
    bool HasRoom()
    {
        const bool hasRoom = m_rows < m_maxRows;
        m_leftOut += hasRoom ? 0 : 1;
        return hasRoom;
    }

    /** Adds a row. @return whether it was within maxRows */
    bool Append(const Row& row)
    {
        if (!HasRoom())
        {
            return false;
        }
        m_rows++;
        for (const auto& append : m_appends)
        {
            append(row);
        }
        return true;
    }

    /** Appends @p rows and finishes the table. */
    void AppendAll(const std::vector<Row>& rows)
    {
        for (const Row& row : rows)
        {
            Append(row);
        }
        Finish();
    }

    /** Number of rows left out because of maxRows. */
    int64_t LeftOut() const
    {
        return m_leftOut;
    }

    /** Writes the buffered rows and attaches the dimension scale. */
    void Finish()
    {
        for (Hdf5Column& column : m_columns)
        {
            column.Flush();
        }
        if (!m_rowName.empty())
        {
            AttachRowNumbers(m_file, m_group, m_rowName, m_rows, m_columns);
        }
        m_columns.clear();
    }

  private:
    hid_t m_file;
    std::string m_group;
    std::string m_rowName;
    std::size_t m_maxRows;
    std::list<Hdf5Column> m_columns;
    std::vector<std::function<void(const Row&)>> m_appends; //!< by column
    std::size_t m_rows{0};
    int64_t m_leftOut{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_HDF5_TABLE_H
