// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/hdf5-file.h"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

/** Keeps the HDF5 library from printing to standard error while it lives. */
class QuietHdf5
{
  public:
    QuietHdf5()
    {
        H5Eget_auto2(H5E_DEFAULT, &m_function, &m_data);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }

    ~QuietHdf5()
    {
        H5Eset_auto2(H5E_DEFAULT, m_function, m_data);
    }

  private:
    H5E_auto2_t m_function{nullptr};
    void* m_data{nullptr};
};

Hdf5Handle
CreateFile(const std::string& path, Hdf5Driver& driver)
{
    QuietHdf5 quiet;
    Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make an access list");
    H5Pset_libver_bounds(access.Get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    driver.Use(access.Get());
    Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "make a creation list");
    H5Pset_obj_track_times(creation.Get(), false);
    return Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.Get(), access.Get()),
                      H5Fclose,
                      "create '" + path + "'");
}

void
SetScalarAttribute(hid_t object, const std::string& name, hid_t type, const void* value)
{
    Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar");
    Hdf5Handle attribute(
        H5Acreate2(object, name.c_str(), type, space.Get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose,
        "make attribute '" + name + "'");
    if (H5Awrite(attribute.Get(), type, value) < 0)
    {
        throw std::runtime_error("HDF5: cannot write attribute '" + name + "'");
    }
}

Hdf5Handle
OpenObject(hid_t file, const std::string& path)
{
    return Hdf5Handle(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose, "open '" + path + "'");
}

} // namespace

Hdf5File::Hdf5File(const std::string& path, const std::string& what)
    : m_output(path, what, HDF5_FORMAT),
      m_driver(path),
      m_file(CreateFile(m_output.TemporaryPath(), m_driver))
{
}

Hdf5File::~Hdf5File() = default;

void
Hdf5File::AddGroup(const std::string& path)
{
    Hdf5Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "make a creation list");
    H5Pset_obj_track_times(creation.Get(), false);
    Hdf5Handle group(H5Gcreate2(Get(), path.c_str(), H5P_DEFAULT, creation.Get(), H5P_DEFAULT),
                     H5Gclose,
                     "make group '" + path + "'");
}

void
Hdf5File::SetAttribute(const std::string& path, const std::string& name, const std::string& text)
{
    SetHdf5Attribute(OpenObject(Get(), path).Get(), name, text);
}

void
Hdf5File::SetAttribute(const std::string& path, const std::string& name, double number)
{
    SetScalarAttribute(OpenObject(Get(), path).Get(), name, H5T_NATIVE_DOUBLE, &number);
}

void
Hdf5File::SetAttribute(const std::string& path, const std::string& name, int64_t number)
{
    SetScalarAttribute(OpenObject(Get(), path).Get(), name, H5T_NATIVE_INT64, &number);
}

void
Hdf5File::WriteText(const std::string& path, const std::string& text)
{
    const Hdf5Handle type = MakeHdf5TextType();
    Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar");
    Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a creation list");
    H5Pset_obj_track_times(creation.Get(), false);
    Hdf5Handle dataset(
        H5Dcreate2(
            Get(), path.c_str(), type.Get(), space.Get(), H5P_DEFAULT, creation.Get(), H5P_DEFAULT),
        H5Dclose,
        "make '" + path + "'");
    const char* pointer = text.c_str();
    if (H5Dwrite(dataset.Get(), type.Get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer) < 0)
    {
        throw std::runtime_error("HDF5: cannot write '" + path + "'");
    }
}

void
Hdf5File::Commit()
{
    const bool isFlushed = H5Fflush(Get(), H5F_SCOPE_GLOBAL) >= 0;
    m_file = Hdf5Handle();
    if (m_driver.Error() != 0 || !isFlushed)
    {
        const int error = m_driver.Error() == 0 ? EIO : m_driver.Error();
        throw std::runtime_error("cannot write '" + m_output.Path() + "': " + std::strerror(error));
    }
    m_output.Commit();
}

Hdf5Handle
MakeHdf5TextType()
{
    Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
    H5Tset_size(type.Get(), H5T_VARIABLE);
    H5Tset_cset(type.Get(), H5T_CSET_UTF8);
    return type;
}

void
SetHdf5Attribute(hid_t object, const std::string& name, const std::string& text)
{
    const Hdf5Handle type = MakeHdf5TextType();
    const char* pointer = text.c_str();
    SetScalarAttribute(object, name, type.Get(), &pointer);
}

} // namespace weir
