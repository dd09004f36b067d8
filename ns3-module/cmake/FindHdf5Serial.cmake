# SPDX-License-Identifier: GPL-2.0-only
#[=[
Finds HDF5's C library and its high-level one: find_package(Hdf5Serial).

CMake's own FindHDF5 wants the C language, which ns-3 enables no more since 3.46, and leaves the
include folder out of the targets of some releases.

Defines
  Hdf5Serial_FOUND, Hdf5Serial_INCLUDE_DIR, Hdf5Serial_LIBRARIES
  hdf5-serial::hdf5   to link with
]=]
# Debian keeps the serial build in folders of its own; others have the plain names.
find_path(Hdf5Serial_INCLUDE_DIR hdf5_hl.h PATH_SUFFIXES hdf5/serial)
find_library(Hdf5Serial_LIBRARY NAMES hdf5_serial hdf5)
find_library(Hdf5Serial_HL_LIBRARY NAMES hdf5_serial_hl hdf5_hl)
mark_as_advanced(Hdf5Serial_INCLUDE_DIR Hdf5Serial_LIBRARY Hdf5Serial_HL_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hdf5Serial
  REQUIRED_VARS Hdf5Serial_LIBRARY Hdf5Serial_HL_LIBRARY Hdf5Serial_INCLUDE_DIR)

if(Hdf5Serial_FOUND)
  set(Hdf5Serial_LIBRARIES ${Hdf5Serial_HL_LIBRARY} ${Hdf5Serial_LIBRARY})
  if(NOT TARGET hdf5-serial::hdf5)
    add_library(hdf5-serial::hdf5 INTERFACE IMPORTED)
    set_target_properties(hdf5-serial::hdf5 PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${Hdf5Serial_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "${Hdf5Serial_LIBRARIES}")
  endif()
endif()
