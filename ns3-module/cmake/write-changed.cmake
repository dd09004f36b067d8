# SPDX-License-Identifier: GPL-2.0-only
# weir_write_changed(FILE TEXT): writes the file unless that is what it holds
function(weir_write_changed file text)
  set(before "")
  if(EXISTS ${file})
    file(READ ${file} before)
  endif()
  if(NOT before STREQUAL text)
    file(WRITE ${file} "${text}")
  endif()
endfunction()
