// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_HDF5_TABLE_H
#define WEIR_SCENARIOS_RESULTS_HDF5_TABLE_H

#include "fabric/units.h"
#include "scenarios/results/hdf5-file.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
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
class Hdf5ColumnWriter
{
  public:
    virtual ~Hdf5ColumnWriter() = default;

    /** Writes the buffered rows to the file. */
    virtual void Flush() = 0;

    virtual std::size_t Rows() const = 0;

    hid_t Get() const
    {
        return m_dataset.Get();
    }

  protected:
    /** Creates the dataset @p group / info.name with elements of @p type. */
    Hdf5ColumnWriter(hid_t file,
                     const std::string& group,
                     const ColumnInfo& info,
                     Hdf5Handle type,
                     std::size_t chunkRows);

    void Write(const void* values, std::size_t count);

  private:
    Hdf5Handle m_type;
    Hdf5Handle m_dataset;
    std::size_t m_written{0}; //!< rows written to the file
};

/**
 * A column of double, float, int64_t, uint32_t or std::string; buffers at most one chunk in memory.
 */
template <typename T>
class Hdf5Column : public Hdf5ColumnWriter
{
  public:
    static constexpr std::size_t CHUNK_ROWS = 65536 / sizeof(T); //!< chunks of 64 KiB

    Hdf5Column(hid_t file, const std::string& group, const ColumnInfo& info);

    void Append(T value)
    {
        m_buffer.push_back(std::move(value));
        m_rows++;
        if (m_buffer.size() == CHUNK_ROWS)
        {
            Flush();
        }
    }

    void Flush() override;

    std::size_t Rows() const override
    {
        return m_rows;
    }

  private:
    std::vector<T> m_buffer;
    std::size_t m_rows{0};
};

/**
 * A table as a group with one dataset per column, all of the same length. The counting column holds
 * the row numbers; it is a dimension scale attached to all other columns.
 */
class Hdf5Table
{
  public:
    /**
     * Creates group @p group ("/ops") with the counting column @p rowName ("op"). An empty @p
     * rowName omits the counting column, for long tables whose columns are coordinates themselves.
     */
    Hdf5Table(Hdf5File& file, std::string group, std::string rowName);

    /** Adds a column; the reference is valid until Finish. */
    template <typename T>
    Hdf5Column<T>& Add(const ColumnInfo& info)
    {
        auto column = std::make_unique<Hdf5Column<T>>(m_file.Get(), m_group, info);
        auto& reference = *column;
        m_columns.push_back(std::move(column));
        return reference;
    }

    std::size_t Rows() const;

    /**
     * Writes the buffered rows and attaches the dimension scale.
     * @throws std::logic_error when the columns differ in length.
     */
    void Finish();

  private:
    /** Writes the counting column and makes it the scale of all others. */
    void AttachCounter();

    Hdf5File& m_file;
    std::string m_group;
    std::string m_rowName;
    std::vector<std::unique_ptr<Hdf5ColumnWriter>> m_columns;
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

/**
 * A table with one row per object of type @p Row; each column stores a function or member of the
 * object.
 */
template <typename Row>
class Hdf5RowTable
{
  public:
    static constexpr std::size_t UNBOUNDED = SIZE_MAX;

    /**
     * Same as Hdf5Table.
     * @param maxRows limit of the rows written; further rows are only counted
     */
    Hdf5RowTable(Hdf5File& file,
                 const std::string& group,
                 std::string rowName,
                 std::size_t maxRows = UNBOUNDED)
        : m_table(file, group, std::move(rowName)),
          m_maxRows(maxRows)
    {
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
        auto& column = m_table.Add<T>(info);
        m_columns.push_back([&column, value](const Row& row) {
            const auto& found = std::invoke(value, row);
            column.Append(ColumnValue(found));
        });
    }

    /** Whether another row fits within maxRows; counts the row as left out if not. */
    bool HasRoom()
    {
        const bool hasRoom = m_table.Rows() < m_maxRows;
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
        for (const auto& column : m_columns)
        {
            column(row);
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

    /** Same as Hdf5Table::Finish. */
    void Finish()
    {
        m_table.Finish();
    }

  private:
    Hdf5Table m_table;
    std::size_t m_maxRows;
    std::vector<std::function<void(const Row&)>> m_columns;
    int64_t m_leftOut{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_HDF5_TABLE_H
