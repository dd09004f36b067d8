// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/hdf5-table.h"

#include "scenarios/yaml/mapped.h"

#include <hdf5_hl.h>
#include <stdexcept>
#include <type_traits>

namespace weir
{

namespace
{

constexpr unsigned DEFLATE_LEVEL = 1; //!< zlib: higher ones gain little on shuffled columns

Hdf5Handle
TypeOf(const Hdf5Column::Rows& rows)
{
    if (std::holds_alternative<std::vector<std::string>>(rows))
    {
        return MakeHdf5TextType();
    }
    const hid_t native = std::holds_alternative<std::vector<double>>(rows)    ? H5T_NATIVE_DOUBLE
                         : std::holds_alternative<std::vector<float>>(rows)   ? H5T_NATIVE_FLOAT
                         : std::holds_alternative<std::vector<int64_t>>(rows) ? H5T_NATIVE_INT64
                                                                              : H5T_NATIVE_UINT32;
    return Hdf5Handle(H5Tcopy(native), H5Tclose, "copy a number type");
}

/** Number of rows of a chunk. */
hsize_t
ChunkRows(const Hdf5Column::Rows& rows)
{
    return std::visit(
        [](const auto& values) { return Hdf5Column::CHUNK_BYTES / sizeof(values.front()); }, rows);
}

} // namespace

Hdf5Column::Hdf5Column(hid_t file, const std::string& group, const ColumnInfo& info, Rows rows)
    : m_rows(std::move(rows)),
      m_type(TypeOf(m_rows))
{
    const std::string path = group + "/" + info.name;
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const hsize_t chunk = ChunkRows(m_rows);
    Hdf5Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose, "make a column's space");
    Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a creation list");
    H5Pset_obj_track_times(creation.Get(), false);
    H5Pset_chunk(creation.Get(), 1, &chunk);
    H5Pset_shuffle(creation.Get());
    H5Pset_deflate(creation.Get(), DEFLATE_LEVEL);
    m_dataset = Hdf5Handle(H5Dcreate2(file,
                                      path.c_str(),
                                      m_type.Get(),
                                      space.Get(),
                                      H5P_DEFAULT,
                                      creation.Get(),
                                      H5P_DEFAULT),
                           H5Dclose,
                           "make '" + path + "'");
    SetHdf5Attribute(Get(), "units", info.units);
    SetHdf5Attribute(Get(), "long_name", info.longName);
    if (!info.catalog.empty())
    {
        SetHdf5Attribute(Get(), "catalog", info.catalog);
    }
}

void
Hdf5Column::Write(const void* values, std::size_t count)
{
    if (count == 0)
    {
        return;
    }
    const hsize_t start = m_written;
    const hsize_t rows = count;
    const hsize_t total = m_written + count;
    if (H5Dset_extent(Get(), &total) < 0)
    {
        throw std::runtime_error("HDF5: cannot extend a column");
    }
    Hdf5Handle memory(H5Screate_simple(1, &rows, nullptr), H5Sclose, "make a space");
    Hdf5Handle selection(H5Dget_space(Get()), H5Sclose, "get a column's space");
    H5Sselect_hyperslab(selection.Get(), H5S_SELECT_SET, &start, nullptr, &rows, nullptr);
    if (H5Dwrite(Get(), m_type.Get(), memory.Get(), selection.Get(), H5P_DEFAULT, values) < 0)
    {
        throw std::runtime_error("HDF5: cannot write a column");
    }
    Hdf5Driver::ThrowIfRefused(Get());
    m_written += count;
}

void
Hdf5Column::Flush()
{
    std::visit(
        [this](auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            if constexpr (std::is_same_v<Value, std::string>)
            {
                const auto texts = Mapped<const char*>(values, &std::string::c_str);
                Write(texts.data(), texts.size());
            }
            else
            {
                Write(values.data(), values.size());
            }
            values.clear();
        },
        m_rows);
}

void
AttachRowNumbers(hid_t file,
                 const std::string& group,
                 const std::string& name,
                 std::size_t rows,
                 const std::list<Hdf5Column>& columns)
{
    Hdf5Column counter(file, group, {name, "1", "row number", ""}, std::vector<uint32_t>());
    for (std::size_t row = 0; row < rows; row++)
    {
        counter.Append(static_cast<uint32_t>(row));
    }
    counter.Flush();
    H5DSset_scale(counter.Get(), name.c_str());
    for (const Hdf5Column& column : columns)
    {
        if (H5DSattach_scale(column.Get(), counter.Get(), 0) < 0)
        {
            throw std::runtime_error("HDF5: cannot attach the scale of " + group);
        }
    }
}

} // namespace weir
