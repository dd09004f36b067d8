// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/hdf5-table.h"

#include <hdf5_hl.h>
#include <stdexcept>
#include <type_traits>

namespace weir
{

namespace
{

constexpr unsigned DEFLATE_LEVEL = 1; //!< zlib: higher ones gain little on shuffled columns

template <typename T>
Hdf5Handle
TypeOf()
{
    if constexpr (std::is_same_v<T, std::string>)
    {
        return MakeHdf5TextType();
    }
    else
    {
        const hid_t native = std::is_same_v<T, double>    ? H5T_NATIVE_DOUBLE
                             : std::is_same_v<T, float>   ? H5T_NATIVE_FLOAT
                             : std::is_same_v<T, int64_t> ? H5T_NATIVE_INT64
                                                          : H5T_NATIVE_UINT32;
        return Hdf5Handle(H5Tcopy(native), H5Tclose, "copy a number type");
    }
}

} // namespace

Hdf5ColumnWriter::Hdf5ColumnWriter(hid_t file,
                                   const std::string& group,
                                   const ColumnInfo& info,
                                   Hdf5Handle type,
                                   std::size_t chunkRows)
    : m_type(std::move(type))
{
    const std::string path = group + "/" + info.name;
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const hsize_t chunk = chunkRows;
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
Hdf5ColumnWriter::Write(const void* values, std::size_t count)
{
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

template <typename T>
Hdf5Column<T>::Hdf5Column(hid_t file, const std::string& group, const ColumnInfo& info)
    : Hdf5ColumnWriter(file, group, info, TypeOf<T>(), CHUNK_ROWS)
{
}

template <typename T>
void
Hdf5Column<T>::Flush()
{
    if (m_buffer.empty())
    {
        return;
    }
    if constexpr (std::is_same_v<T, std::string>)
    {
        std::vector<const char*> pointers;
        pointers.reserve(m_buffer.size());
        for (const auto& text : m_buffer)
        {
            pointers.push_back(text.c_str());
        }
        Write(pointers.data(), pointers.size());
    }
    else
    {
        Write(m_buffer.data(), m_buffer.size());
    }
    m_buffer.clear();
}

template class Hdf5Column<double>;
template class Hdf5Column<float>;
template class Hdf5Column<int64_t>;
template class Hdf5Column<uint32_t>;
template class Hdf5Column<std::string>;

Hdf5Table::Hdf5Table(Hdf5File& file, std::string group, std::string rowName)
    : m_file(file),
      m_group(std::move(group)),
      m_rowName(std::move(rowName))
{
    m_file.AddGroup(m_group);
}

std::size_t
Hdf5Table::Rows() const
{
    return m_columns.empty() ? 0 : m_columns.front()->Rows();
}

void
Hdf5Table::Finish()
{
    for (const auto& column : m_columns)
    {
        if (column->Rows() != Rows())
        {
            throw std::logic_error("Hdf5Table " + m_group + ": columns of unequal length");
        }
        column->Flush();
    }
    if (!m_rowName.empty())
    {
        AttachCounter();
    }
    m_columns.clear();
}

void
Hdf5Table::AttachCounter()
{
    Hdf5Column<uint32_t> counter(m_file.Get(), m_group, {m_rowName, "1", "row number", ""});
    for (std::size_t row = 0; row < Rows(); row++)
    {
        counter.Append(static_cast<uint32_t>(row));
    }
    counter.Flush();
    H5DSset_scale(counter.Get(), m_rowName.c_str());
    for (const auto& column : m_columns)
    {
        if (H5DSattach_scale(column->Get(), counter.Get(), 0) < 0)
        {
            throw std::runtime_error("HDF5: cannot attach the scale of " + m_group);
        }
    }
}

} // namespace weir
