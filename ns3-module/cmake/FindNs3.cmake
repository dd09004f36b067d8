# SPDX-License-Identifier: GPL-2.0-only
#[=[
Finds an installed ns-3, module by module: find_package(Ns3 COMPONENTS core network REQUIRED).

Needed because the package files of Debian's libns3-dev 3.37 do not work on their own: its CMake
configuration asks for helper programs of another package, and its pkg-config files carry a stray
include path. Look in other places with -DNs3_ROOT=PREFIX or CMAKE_PREFIX_PATH.

Defines
  Ns3_FOUND, Ns3_VERSION
  ns3::MODULE     one target a component, to link with

Two things come with every target:
  NS3_LOG_ENABLE  Debian's library is built with logging; class layouts depend on it
  no-as-needed    a library that is used through TypeId names only must stay in the program; the
                  linker's own setting is restored behind each library
]=]
find_path(Ns3_INCLUDE_DIR ns3/core-config.h)
mark_as_advanced(Ns3_INCLUDE_DIR)

foreach(component ${Ns3_FIND_COMPONENTS})
  # Debian: libns3-core.so; ns-3's own installation: libns3.37-core.so, with a profile's suffix.
  find_library(Ns3_${component}_LIBRARY
    NAMES
      ns3-${component}
      ns3.37-${component}
      ns3.37-${component}-default
      ns3.37-${component}-release
      ns3.37-${component}-optimized)
  mark_as_advanced(Ns3_${component}_LIBRARY)
  if(Ns3_${component}_LIBRARY)
    set(Ns3_${component}_FOUND TRUE)
  endif()
endforeach()

# The version is in the file name: libns3-core.so -> libns3-core.so.37, or libns3.37-core.so
if(Ns3_core_LIBRARY)
  get_filename_component(_ns3File "${Ns3_core_LIBRARY}" REALPATH)
  if(_ns3File MATCHES "libns3-core\\.so\\.([0-9]+)$")
    set(Ns3_VERSION 3.${CMAKE_MATCH_1})
  elseif(_ns3File MATCHES "libns3\\.([0-9]+)-")
    set(Ns3_VERSION 3.${CMAKE_MATCH_1})
  endif()
  unset(_ns3File)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ns3
  REQUIRED_VARS Ns3_INCLUDE_DIR
  VERSION_VAR Ns3_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE
    "Install Debian's libns3-dev, point Ns3_ROOT at an installation, or configure with \
-DWEIR_WITH_NS3=OFF for the plain libraries alone.")

if(Ns3_FOUND)
  foreach(component ${Ns3_FIND_COMPONENTS})
    if(NOT TARGET ns3::${component})
      add_library(ns3::${component} INTERFACE IMPORTED)
      # One item, so that nothing can come between the switch and its restoration.
      set_target_properties(ns3::${component} PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${Ns3_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS NS3_LOG_ENABLE
        INTERFACE_LINK_LIBRARIES
          "-Wl,--push-state,--no-as-needed,${Ns3_${component}_LIBRARY},--pop-state")
      get_filename_component(_ns3Folder "${Ns3_${component}_LIBRARY}" DIRECTORY)
      if(NOT _ns3Folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        set_target_properties(ns3::${component} PROPERTIES
          INTERFACE_LINK_OPTIONS "-Wl,-rpath,${_ns3Folder}")
      endif()
      unset(_ns3Folder)
    endif()
  endforeach()
endif()
