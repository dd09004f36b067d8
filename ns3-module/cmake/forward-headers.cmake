# SPDX-License-Identifier: GPL-2.0-only
# Inside ns-3 every public header of a module is "ns3/NAME.h". This gives the standalone build the
# same: one forwarding header each below the build folder.
set(WEIR_FORWARD_INCLUDE ${CMAKE_BINARY_DIR}/include)

# weir_forward_headers(FILE...): each file, given by its full path, becomes "ns3/NAME.h"
function(weir_forward_headers)
  foreach(header ${ARGN})
    get_filename_component(name ${header} NAME)
    file(CONFIGURE OUTPUT ${WEIR_FORWARD_INCLUDE}/ns3/${name} CONTENT "#include \"${header}\"\n")
  endforeach()
endfunction()
