# How every target of ours is compiled: link grapnel_options. Flags of a preset (sanitizers) are in CMakePresets.json.

set(GRAPNEL_CPU x86-64-v3 CACHE STRING "-march of the kernels; the rest runs on any x86-64-v2, and main refuses a CPU below")
set(GRAPNEL_KERNELS "" CACHE STRING "regular expression of the files of kernels/cpu to build, without .cpp; empty: all")
option(GRAPNEL_FUZZ "build the libFuzzer targets (clang only)" OFF)
# What libFuzzer needs to see of the code under it; the rooms that readers are in are built with it (lib/io and below).
set(GRAPNEL_COVERAGE $<$<BOOL:${GRAPNEL_FUZZ}>:-fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table>)

add_library(grapnel_options INTERFACE)
target_compile_features(grapnel_options INTERFACE cxx_std_20)
target_compile_options(grapnel_options INTERFACE
  -Wall -Wextra -Werror=unused-result -Werror=switch
  # gcc 12 sees both where they are not, in LLVM and in libstdc++.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  # ccache finds what was compiled with a precompiled header only if that does not hold the time.
  "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>"
  # What is handed out names its sources (lib/trace/value.h) from the repository's folder on, wherever it is built
  # and whichever clone compiled what ccache has.
  $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>
  # Compiled once, for binary, static libraries, shared library and tests. What is GRAPNEL_PUBLIC alone is seen outside, or,
  # where the target's property GRAPNEL_VISIBLE says so, all.
  -fPIC $<$<NOT:$<BOOL:$<TARGET_PROPERTY:GRAPNEL_VISIBLE>>>:-fvisibility=hidden> -fvisibility-inlines-hidden
  # A target's property GRAPNEL_MARCH raises the CPU that it needs.
  -march=$<IF:$<BOOL:$<TARGET_PROPERTY:GRAPNEL_MARCH>>,$<TARGET_PROPERTY:GRAPNEL_MARCH>,x86-64-v2>)
target_include_directories(grapnel_options INTERFACE ${PROJECT_SOURCE_DIR})

# Code that is compiled longer than it ever runs: tests, and in debug builds passes, kernels and commands. It compiles two to three
# times as fast without optimization, sanitized ones most of all.
set(GRAPNEL_O0_FLAGS -O0)
set(GRAPNEL_O0_FLAGS_DEBUG $<$<CONFIG:Debug>:-O0>)
# For tests and commands: address checks suffice there, and with those for undefined behavior they compile twice as long.
set(GRAPNEL_NO_UBSAN $<$<CONFIG:Debug>:-fno-sanitize=undefined>)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# dlopen finds the modules beside the binary, and in a package the libraries in lib/: an RPATH and not a RUNPATH, because only
# that holds for what the libraries need and open.
set(CMAKE_BUILD_RPATH "$ORIGIN;$ORIGIN/../lib")
add_link_options(-Wl,--disable-new-dtags)

# A third of the time of GNU's. CUDA's modules are linked by its host compiler, which may not find it.
find_program(GRAPNEL_LLD ld.lld PATHS /usr/lib/llvm-14/bin)
if(GRAPNEL_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
  # What runs before main lies side by side, as GNU's linker has it: a start touches 4 MB of code and not 20.
  add_link_options($<$<LINK_LANGUAGE:CXX>:LINKER:-z,keep-text-section-prefix>)
  # Each of the two dozen programs of a sanitized build takes 250 MB of disk and not 380.
  set(debug $<AND:$<CONFIG:Debug>,$<LINK_LANGUAGE:CXX>>)
  add_link_options($<${debug}:LINKER:--compress-debug-sections=zlib>
                   $<$<AND:${debug},$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>>:-no-pie>)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compiler_launcher.sh)
endif()
