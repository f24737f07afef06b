# gnnmg_interface_digest(<variable>): the beginning of a SHA-256 over the headers that library and plug-ins must share, which
# are those of the device table and of the gRPC engine, and the headers that these include. Versions do not change with every
# change of the tables, so the digest is part of the version that both compare (device/plugin.h). CMake runs again if one of the
# headers changes.
function(gnnmg_interface_digest variable)
  set(waiting device/table.h comm/nccl/table.h dist/engine.h feature/device.h nn/kernels/device.h sample/device.h
      train/device_updates.h)
  set(headers)
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST headers)
      continue()
    endif()
    list(APPEND headers ${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} includes REGEX "^#include \"[^\"]+\"")
    list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND waiting ${includes})
  endwhile()
  list(SORT headers)
  set(digests "")
  foreach(header IN LISTS headers)
    file(SHA256 ${PROJECT_SOURCE_DIR}/src/${header} digest)
    string(APPEND digests "${header} ${digest}\n")
  endforeach()
  string(SHA256 digest "${digests}")
  string(SUBSTRING ${digest} 0 12 digest)
  set(${variable} ${digest} PARENT_SCOPE)
endfunction()
