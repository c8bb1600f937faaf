# The system libraries that lib/ and the kernels link, for the build and for projects that link the installed static libraries,
# whose grapnel-config.cmake includes this file. Archives are found by file name: Debian's CMake packages of LLVM and leveldb
# require the development files of z3, zstd and curl, and select the shared library.

# grapnel_archives(NAME HEADER a/b.h ARCHIVES liba.a ... [PATHS dir ...]): INTERFACE target NAME, headers as system headers.
function(grapnel_archives name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "HEADER" "ARCHIVES;PATHS")
  add_library(${name} INTERFACE)
  find_path(${name}_INCLUDE ${ARG_HEADER} REQUIRED PATHS ${ARG_PATHS} PATH_SUFFIXES include)
  target_include_directories(${name} SYSTEM INTERFACE ${${name}_INCLUDE})
  foreach(archive IN LISTS ARG_ARCHIVES)
    find_library(${name}_${archive} ${archive} REQUIRED PATHS ${ARG_PATHS} PATH_SUFFIXES lib)
    target_link_libraries(${name} INTERFACE ${${name}_${archive}})
  endforeach()
  mark_as_advanced(${name}_INCLUDE)
endfunction()

set(Protobuf_USE_STATIC_LIBS ON)
set(ZLIB_USE_STATIC_LIBS ON)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)

# LLVM 19 if it is installed, else the newest from 16 on. GRAPNEL_LLVM is its root: tests find lit and FileCheck below it.
# Installed headers work only with the version that they were compiled against, GRAPNEL_LLVM_ROOTS.
if(NOT GRAPNEL_LLVM_ROOTS)
  set(GRAPNEL_LLVM_ROOTS /usr/lib/llvm-19 /usr/lib/llvm-18 /usr/lib/llvm-17 /usr/lib/llvm-16)
endif()
find_path(GRAPNEL_LLVM lib/libLLVMSupport.a REQUIRED PATHS ${GRAPNEL_LLVM_ROOTS} NO_DEFAULT_PATH)
grapnel_archives(grapnel_llvm HEADER llvm/Support/Error.h ARCHIVES libLLVMSupport.a libLLVMDemangle.a PATHS ${GRAPNEL_LLVM})
target_link_libraries(grapnel_llvm INTERFACE ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
if(NOT GRAPNEL_LLVM MATCHES "-19$")  # LLVM before 19 uses terminfo for colors
  find_library(TINFO tinfo REQUIRED)
  target_link_libraries(grapnel_llvm INTERFACE ${TINFO})
endif()

grapnel_archives(grapnel_deflate HEADER libdeflate.h ARCHIVES libdeflate.a)
grapnel_archives(grapnel_re2 HEADER re2/re2.h ARCHIVES libre2.a)
grapnel_archives(grapnel_leveldb HEADER leveldb/table.h ARCHIVES libleveldb.a libsnappy.a)
target_link_libraries(grapnel_leveldb INTERFACE Threads::Threads)

# Hashing and compression for Riegeli record files; tests use them, too.
grapnel_archives(grapnel_riegeli HEADER highwayhash/c_bindings.h
                 ARCHIVES libhighwayhash.a libbrotlidec.a libbrotlienc.a libbrotlicommon.a libzstd.a libsnappy.a)

grapnel_archives(grapnel_farmhash HEADER farmhash.h ARCHIVES libfarmhash.a)
grapnel_archives(grapnel_gif HEADER gif_lib.h ARCHIVES libgif.a)
grapnel_archives(grapnel_jpeg HEADER jpeglib.h ARCHIVES libjpeg.a)
grapnel_archives(grapnel_png HEADER png.h ARCHIVES libpng.a)
target_link_libraries(grapnel_png INTERFACE ZLIB::ZLIB)
