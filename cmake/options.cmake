# Compile options of all targets: link grapnel_options. Flags of a preset (sanitizers) are in CMakePresets.json.

if((CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12))
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, which is too old: "
                      "grapnel is C++20 and needs clang 14 or GCC 12")
endif()

set(GRAPNEL_CPU x86-64-v3 CACHE STRING "-march of the kernels; the rest runs on any x86-64-v2, and main refuses a CPU below")
set(GRAPNEL_KERNELS "" CACHE STRING "regular expression of the files of kernels/cpu to build, without .cpp; empty: all")
option(GRAPNEL_FUZZ "build the libFuzzer targets (clang only)" OFF)
# Coverage instrumentation for libFuzzer; the libraries that contain readers are built with it (lib/io and below).
set(GRAPNEL_COVERAGE $<$<BOOL:${GRAPNEL_FUZZ}>:-fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table>)

add_library(grapnel_options INTERFACE)
target_compile_features(grapnel_options INTERFACE cxx_std_20)
target_compile_options(grapnel_options INTERFACE
  -Wall -Wextra -Werror=unused-result -Werror=switch
  # False positives of gcc 12 in LLVM and in libstdc++.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  # ccache can reuse code compiled with a precompiled header only if the header has no timestamp.
  "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>"
  # Source paths in the released binaries (lib/trace/value.h) start at the repository's root, whatever the build directory and
  # whichever clone filled the ccache.
  $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>
  # Objects are compiled once, for binary, static libraries, shared library and tests. Only
  # GRAPNEL_PUBLIC declarations are visible outside a shared object, or all declarations if the
  # target's property GRAPNEL_VISIBLE is set.
  -fPIC $<$<NOT:$<BOOL:$<TARGET_PROPERTY:GRAPNEL_VISIBLE>>>:-fvisibility=hidden> -fvisibility-inlines-hidden
  # A target's property GRAPNEL_MARCH raises the required CPU.
  -march=$<IF:$<BOOL:$<TARGET_PROPERTY:GRAPNEL_MARCH>>,$<TARGET_PROPERTY:GRAPNEL_MARCH>,x86-64-v2>)
target_include_directories(grapnel_options INTERFACE ${PROJECT_SOURCE_DIR})

# Code that takes longer to compile than to run: tests, and in debug builds passes, kernels and
# commands. This code compiles two to three times as fast without optimization, especially with
# sanitizers.
set(GRAPNEL_O0_FLAGS -O0)
set(GRAPNEL_O0_FLAGS_DEBUG $<$<CONFIG:Debug>:-O0>)
# Release builds use -O2, which compiles in nine tenths of the time of CMake's -O3; kernels, where loops matter, keep -O3.
# Jobs, commands and gradient rules run once in a while and take a fifth less to compile with -O1.
string(REPLACE -O3 -O2 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
set(GRAPNEL_KERNEL_FLAGS $<$<CONFIG:Release>:-O3> ${GRAPNEL_O0_FLAGS_DEBUG}
    # GRAPNEL_VECTORIZE is on loops for every dtype; clang would warn about those that it cannot vectorize.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
set(GRAPNEL_COLD_FLAGS $<$<CONFIG:Release>:-O1>)
# For tests and commands, for which address checks suffice: checks for undefined behavior double
# their compile time.
set(GRAPNEL_NO_UBSAN $<$<CONFIG:Debug>:-fno-sanitize=undefined>)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# dlopen finds the modules beside the binary, and in a package the libraries in lib/: an RPATH, not a RUNPATH, because only an
# RPATH also applies to the dependencies of libraries and to what they open.
set(CMAKE_BUILD_RPATH "$ORIGIN;$ORIGIN/../lib")
add_link_options(-Wl,--disable-new-dtags)

# ld.lld takes a third of the time of GNU's linker. CUDA's modules are linked by the host compiler,
# which may not find ld.lld.
find_program(GRAPNEL_LLD ld.lld PATHS /usr/lib/llvm-14/bin)
if(GRAPNEL_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
  # Places code that runs before main together, as GNU's linker does: a start touches 4 MB of code instead of 20.
  add_link_options($<$<LINK_LANGUAGE:CXX>:LINKER:-z,keep-text-section-prefix>)
  # Each of the two dozen programs of a sanitized build takes 250 MB of disk instead of 380.
  set(debug $<AND:$<CONFIG:Debug>,$<LINK_LANGUAGE:CXX>>)
  add_link_options($<${debug}:LINKER:--compress-debug-sections=zlib>
                   $<$<AND:${debug},$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>>:-no-pie>)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compiler_launcher.sh)
endif()
