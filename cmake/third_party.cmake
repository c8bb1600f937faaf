# Everything from outside, as system libraries; nothing is downloaded. Static where start-up time counts.
# Archives are looked up by file: Debian's CMake packages of LLVM, leveldb and oneDNN demand the development files
# of z3, zstd, curl and OpenCL, and give the shared library.

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
# Under ThreadSanitizer protobuf's headers give maps two more fields, which Debian's library does not have. libstdc++ asks for
# the same macro.
if(CMAKE_CXX_FLAGS MATCHES "sanitize=thread")
  add_compile_options(-U__SANITIZE_THREAD__)
  add_compile_definitions(_GLIBCXX_TSAN=1 GRAPNEL_TSAN)
endif()
find_package(ZLIB REQUIRED)
find_package(Eigen3 REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED CONFIG)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# LLVM 19 if there, else the newest from 16 on. GRAPNEL_LLVM is its root: tests find lit and FileCheck below it.
set(llvm_roots /usr/lib/llvm-19 /usr/lib/llvm-18 /usr/lib/llvm-17 /usr/lib/llvm-16)
find_path(GRAPNEL_LLVM lib/libLLVMSupport.a REQUIRED PATHS ${llvm_roots} NO_DEFAULT_PATH)
message(STATUS "LLVM: ${GRAPNEL_LLVM}")
grapnel_archives(grapnel_llvm HEADER llvm/Support/Error.h ARCHIVES libLLVMSupport.a libLLVMDemangle.a PATHS ${GRAPNEL_LLVM})
target_link_libraries(grapnel_llvm INTERFACE ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
if(NOT GRAPNEL_LLVM MATCHES "-19$")  # LLVM before 19 asks terminfo for colours
  find_library(TINFO tinfo REQUIRED)
  target_link_libraries(grapnel_llvm INTERFACE ${TINFO})
endif()

grapnel_archives(grapnel_re2 HEADER re2/re2.h ARCHIVES libre2.a)
grapnel_archives(grapnel_leveldb HEADER leveldb/table.h ARCHIVES libleveldb.a libsnappy.a)
target_link_libraries(grapnel_leveldb INTERFACE Threads::Threads)

# What files of Riegeli's records are hashed and packed with; tests pack them, too.
grapnel_archives(grapnel_riegeli HEADER highwayhash/c_bindings.h
                 ARCHIVES libhighwayhash.a libbrotlidec.a libbrotlienc.a libbrotlicommon.a libzstd.a libsnappy.a)

grapnel_archives(grapnel_sqlite HEADER sqlite3.h ARCHIVES libsqlite3.a)
target_link_libraries(grapnel_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)

grapnel_archives(grapnel_farmhash HEADER farmhash.h ARCHIVES libfarmhash.a)
grapnel_archives(grapnel_gif HEADER gif_lib.h ARCHIVES libgif.a)
grapnel_archives(grapnel_jpeg HEADER jpeglib.h ARCHIVES libjpeg.a)
grapnel_archives(grapnel_png HEADER png.h ARCHIVES libpng.a)
target_link_libraries(grapnel_png INTERFACE ZLIB::ZLIB)

# Writes DOT.
grapnel_archives(grapnel_cgraph HEADER cgraph.h ARCHIVES libcgraph.so libcdt.so PATHS /usr/include/graphviz)
target_link_libraries(grapnel_cgraph INTERFACE ${CMAKE_DL_LIBS})

# For the loadable modules only: the binary never links these.
grapnel_archives(grapnel_icuuc HEADER unicode/ucnv.h ARCHIVES libicuuc.so)
grapnel_archives(grapnel_dnnl HEADER oneapi/dnnl/dnnl.hpp ARCHIVES libdnnl.so)
target_link_libraries(grapnel_dnnl INTERFACE gomp)

# Lines at a terminal: tools/line_editor.cpp loads the library when it asks for one.
grapnel_archives(grapnel_edit HEADER editline/readline.h ARCHIVES)

# For the loadable module of lib/serve only. Of Boost headers are enough.
grapnel_archives(grapnel_boost HEADER boost/beast/version.hpp ARCHIVES)
grapnel_archives(grapnel_packers HEADER brotli/encode.h ARCHIVES libbrotlienc.so libz.so)

# For the loadable module of lib/render only: what runs scripts, and what makes pixels of SVG.
find_package(PkgConfig REQUIRED)
pkg_check_modules(JavaScriptCore REQUIRED IMPORTED_TARGET javascriptcoregtk-4.1)
pkg_check_modules(Rsvg REQUIRED IMPORTED_TARGET librsvg-2.0)

# Eigen's alignment follows -march, so only kernels may see it.
target_compile_definitions(Eigen3::Eigen INTERFACE EIGEN_MPL2_ONLY)
