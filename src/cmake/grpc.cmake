# gRPC for C++, for the plug-in libgnnmg_grpc.so. GNNMG_GRPC is AUTO (build the plug-in if gRPC is found), ON (fail otherwise)
# or OFF. Sets GNNMG_HAS_GRPC, and the names under which the loader knows gRPC's libraries: dist/engine.cpp checks whether a
# process has others.
set(GNNMG_GRPC AUTO CACHE STRING "Build the gRPC plug-in: AUTO, ON or OFF")
set_property(CACHE GNNMG_GRPC PROPERTY STRINGS AUTO ON OFF)
set(GNNMG_HAS_GRPC OFF)
set(GNNMG_GRPC_SONAME libgrpc.so.29)  # libraries of gRPC 1.51
set(GNNMG_GRPCPP_SONAME libgrpc++.so.1.51)

# gnnmg_soname(<library> <variable>)
function(gnnmg_soname library variable)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE entries ERROR_QUIET)
  string(REGEX MATCH "SONAME[^[]*\\[([^]]+)\\]" _ "${entries}")
  set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

if(GNNMG_GRPC)
  find_path(GRPCPP_INCLUDE grpcpp/generic/async_generic_service.h)
  find_library(GRPCPP_LIBRARY grpc++)
  find_library(GRPC_LIBRARY grpc)
  find_library(GPR_LIBRARY gpr)
  find_library(ABSL_SYNCHRONIZATION_LIBRARY absl_synchronization)  # gRPC's headers need it themselves
  if(GRPCPP_INCLUDE AND GRPCPP_LIBRARY AND GRPC_LIBRARY AND GPR_LIBRARY AND
     ABSL_SYNCHRONIZATION_LIBRARY)
    set(GNNMG_HAS_GRPC ON)
    gnnmg_soname(${GRPC_LIBRARY} GNNMG_GRPC_SONAME)
    gnnmg_soname(${GRPCPP_LIBRARY} GNNMG_GRPCPP_SONAME)
    add_library(gnnmg_grpcpp INTERFACE)
    target_include_directories(gnnmg_grpcpp SYSTEM INTERFACE ${GRPCPP_INCLUDE})
    target_link_libraries(gnnmg_grpcpp INTERFACE ${GRPCPP_LIBRARY} ${GRPC_LIBRARY} ${GPR_LIBRARY}
                          ${ABSL_SYNCHRONIZATION_LIBRARY})
    message(STATUS "gRPC plug-in: ${GNNMG_GRPCPP_SONAME}")
  elseif(GNNMG_GRPC STREQUAL "ON")
    message(FATAL_ERROR "GNNMG_GRPC=ON, but gRPC for C++ is missing (Debian's libgrpc++-dev; src/cmake/setup.sh --tests)")
  else()
    message(STATUS "No gRPC plug-in: without gRPC for C++ (Debian's libgrpc++-dev; src/cmake/setup.sh --tests)")
  endif()
endif()
