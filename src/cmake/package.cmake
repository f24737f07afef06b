# Archives and Debian packages, by cpack, of the components of an installation: runtime, dev, cuda, grpc. An archive has all that
# was built, in one folder that works anywhere; each component is a Debian package of its own.
#   cmake --workflow --preset packages     builds the library and writes them into build/packages/finished

# The packages of the languages are installed as source, of the library's version, and their first programs with them.
set(share ${CMAKE_INSTALL_DATADIR}/gnnmg)
set(bindings ${PROJECT_SOURCE_DIR}/bindings)
set(examples ${PROJECT_SOURCE_DIR}/examples)
install(DIRECTORY ${bindings}/go DESTINATION ${share} COMPONENT dev
        FILES_MATCHING PATTERN "*.go" PATTERN "*.c" PATTERN "*.h" PATTERN go.mod
        PATTERN "*_test.go" EXCLUDE PATTERN gen EXCLUDE)
install(DIRECTORY ${bindings}/julia DESTINATION ${share} COMPONENT dev
        FILES_MATCHING PATTERN "*.jl" PATTERN Project.toml PATTERN "*.md" PATTERN README.md EXCLUDE PATTERN test EXCLUDE)
install(DIRECTORY ${bindings}/rust/gnnmg ${bindings}/rust/gnnmg-sys DESTINATION ${share}/rust COMPONENT dev
        PATTERN target EXCLUDE PATTERN Cargo.lock EXCLUDE)
file(READ ${bindings}/rust/Cargo.toml workspace)
string(REPLACE ", \"generate\", \"../../examples/rust\"" "" workspace "${workspace}")
if(workspace MATCHES "[.][.]/")
  message(FATAL_ERROR "${bindings}/rust/Cargo.toml has members that are not installed: leave them out in src/cmake/package.cmake")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/installed/rust/Cargo.toml CONTENT "${workspace}" @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/installed/rust/Cargo.toml DESTINATION ${share}/rust COMPONENT dev)
install(FILES ${examples}/c/first.c ${examples}/rust/first.rs ${examples}/julia/first.jl
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT dev)
install(FILES ${examples}/go/first/main.go DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples RENAME first.go COMPONENT dev)

# gnnmg_install_page(<page> <folder> <component>): a README.md with links to installed files; others become plain text.
function(gnnmg_install_page page folder component)
  file(READ ${PROJECT_SOURCE_DIR}/${page} text)
  string(REPLACE "](../../bindings/" "](../../gnnmg/" text "${text}")
  string(REGEX REPLACE "\\[([^]]+)\\]\\((\\.\\./settings|\\.\\./\\.\\./docs|\\.\\./\\.\\./examples|[a-z_]+\\.md)[^)]*\\)" "\\1" text "${text}")
  file(WRITE ${PROJECT_BINARY_DIR}/installed/${folder}/README.md "${text}")
  install(FILES ${PROJECT_BINARY_DIR}/installed/${folder}/README.md DESTINATION ${folder} COMPONENT ${component})
endfunction()
gnnmg_install_page(docs/guide/packages.md ${CMAKE_INSTALL_DOCDIR} runtime)
gnnmg_install_page(bindings/go/README.md ${share}/go dev)
gnnmg_install_page(bindings/julia/README.md ${share}/julia dev)

set(CPACK_PACKAGE_NAME gnnmg)
set(CPACK_PACKAGE_VENDOR libgnnmg)
set(CPACK_PACKAGE_CONTACT "The maintainers of libgnnmg")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/finished)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/src/cmake/package/clean.cmake)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 0)  # one per core

set(CPACK_COMPONENTS_ALL runtime dev)
foreach(plugin cuda grpc)
  if(TARGET gnnmg_${plugin})
    list(APPEND CPACK_COMPONENTS_ALL ${plugin})
  endif()
endforeach()

set(CPACK_GENERATOR "TZST;DEB")
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} system)
set(CPACK_PACKAGE_FILE_NAME gnnmg-${PROJECT_VERSION}-${system})

# Debian packages. dpkg-shlibdeps finds the packages of the system's libraries; LibTorch's files are part of the package.
set(name libgnnmg${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same "${name} (= ${PROJECT_VERSION})")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${name})
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libgnnmg-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${same}")
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME libgnnmg-cuda)
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "${same}")
set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)  # the user's LibTorch with its CUDA libraries is no package of Debian
set(CPACK_DEBIAN_GRPC_PACKAGE_NAME libgnnmg-grpc)
set(CPACK_DEBIAN_GRPC_PACKAGE_DEPENDS "${same}")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The library, with LibTorch for the CPU, and its licenses.")
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "The header, files for pkg-config and CMake, and the packages of Rust, Go and Julia, in source.")
set(CPACK_COMPONENT_CUDA_DESCRIPTION
    "The plug-in for NVIDIA's GPUs. LD_LIBRARY_PATH names the lib folder of a LibTorch 2.11 for CUDA 13, which it needs.")
set(CPACK_COMPONENT_GRPC_DESCRIPTION
    "The plug-in by which a graph in parts is read from servers, and the server gnnmg-server.")
include(CPack)
