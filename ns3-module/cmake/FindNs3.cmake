# SPDX-License-Identifier: GPL-2.0-only
#[=[
Finds an installed ns-3, from 3.37 to 3.48 and on, module by module:
find_package(Ns3 COMPONENTS core network REQUIRED).

Needed because the package files of Debian's libns3-dev 3.37 do not work on their own: its CMake
configuration asks for helper programs of another package, and its pkg-config files carry a stray
include path. Search other prefixes with -DNs3_ROOT=PREFIX or CMAKE_PREFIX_PATH.

Defines
  Ns3_FOUND, Ns3_VERSION
  Ns3_DEFINITIONS what the library was compiled with and programs must be, too
  Ns3_CXX_STANDARD the oldest C++ that its headers compile with: 17, 20 (3.41), 23 (3.46)
  Ns3_COMPONENTS, Ns3_LIBRARIES the modules asked for, and their files
  ns3::MODULE     one target a component, to link with

Two things come with every target:
  NS3_LOG_ENABLE, NS3_ASSERT_ENABLE as the library was built; class layouts depend on them
  no-as-needed    a library that is used through TypeId names only must stay in the program; the
                  linker's own setting is restored behind each library
]=]
find_path(Ns3_INCLUDE_DIR ns3/core-config.h)
mark_as_advanced(Ns3_INCLUDE_DIR)

# Debian: libns3-core.so. ns-3's own installation: libns3.48-core.so, where its profile is not
# "release" with that behind. The first folder that has any; of several in it, the newest.
set(_ns3Names ns3-core)
foreach(minor RANGE 99 37 -1)
  foreach(profile "" -optimized -relwithdebinfo -default -debug)
    list(APPEND _ns3Names ns3.${minor}-core${profile} ns3.${minor}.1-core${profile})
  endforeach()
endforeach()
find_library(Ns3_core_LIBRARY NAMES ${_ns3Names} NAMES_PER_DIR)
unset(_ns3Names)
mark_as_advanced(Ns3_core_LIBRARY)

# The version and the profile are in the file's name: libns3-core.so -> libns3-core.so.37, or
# libns3.48-core-default.so
if(Ns3_core_LIBRARY)
  get_filename_component(_ns3Folder "${Ns3_core_LIBRARY}" DIRECTORY)
  get_filename_component(_ns3File "${Ns3_core_LIBRARY}" REALPATH)
  get_filename_component(_ns3File "${_ns3File}" NAME)
  set(_ns3Before ns3-)
  set(_ns3Behind "")
  set(Ns3_DEFINITIONS NS3_LOG_ENABLE) # as Debian builds it
  if(_ns3File MATCHES "^libns3-core\\.so\\.([0-9]+)$")
    set(Ns3_VERSION 3.${CMAKE_MATCH_1})
  elseif(_ns3File MATCHES "^libns3\\.([0-9]+(\\.[0-9]+)?)-core(-[a-z]+)?\\.")
    set(Ns3_VERSION 3.${CMAKE_MATCH_1})
    set(_ns3Before ns${Ns3_VERSION}-)
    set(_ns3Behind "${CMAKE_MATCH_3}")
    set(Ns3_DEFINITIONS "")
    if(_ns3Behind MATCHES "default|debug")
      set(Ns3_DEFINITIONS NS3_LOG_ENABLE NS3_ASSERT_ENABLE)
    endif()
  endif()
  set(Ns3_CXX_STANDARD 17)
  if(Ns3_VERSION VERSION_GREATER_EQUAL 3.46)
    set(Ns3_CXX_STANDARD 23)
  elseif(Ns3_VERSION VERSION_GREATER_EQUAL 3.41)
    set(Ns3_CXX_STANDARD 20)
  endif()
  foreach(component ${Ns3_FIND_COMPONENTS})
    find_library(Ns3_${component}_LIBRARY NAMES ${_ns3Before}${component}${_ns3Behind}
      HINTS ${_ns3Folder} NO_DEFAULT_PATH)
    mark_as_advanced(Ns3_${component}_LIBRARY)
    if(Ns3_${component}_LIBRARY)
      set(Ns3_${component}_FOUND TRUE)
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ns3
  REQUIRED_VARS Ns3_core_LIBRARY Ns3_INCLUDE_DIR
  VERSION_VAR Ns3_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE
    "Install Debian's libns3-dev, point Ns3_ROOT at an installation, or configure with \
-DWEIR_WITH_NS3=OFF for the plain libraries only.")

if(Ns3_FOUND)
  set(Ns3_COMPONENTS ${Ns3_FIND_COMPONENTS})
  set(Ns3_LIBRARIES "")
  foreach(component ${Ns3_FIND_COMPONENTS})
    list(APPEND Ns3_LIBRARIES ${Ns3_${component}_LIBRARY})
    if(NOT TARGET ns3::${component})
      add_library(ns3::${component} INTERFACE IMPORTED)
      # One item, so that nothing can come between the switch and its restoration.
      set_target_properties(ns3::${component} PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${Ns3_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS "${Ns3_DEFINITIONS}"
        INTERFACE_COMPILE_FEATURES cxx_std_${Ns3_CXX_STANDARD}
        INTERFACE_LINK_LIBRARIES
          "-Wl,--push-state,--no-as-needed,${Ns3_${component}_LIBRARY},--pop-state")
      if(NOT _ns3Folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        set_target_properties(ns3::${component} PROPERTIES
          INTERFACE_LINK_OPTIONS "-Wl,-rpath,${_ns3Folder}")
      endif()
    endif()
  endforeach()
endif()
unset(_ns3Folder)
unset(_ns3File)
unset(_ns3Before)
unset(_ns3Behind)
