#!/usr/bin/env bash
# Developer script. Installs from Debian what a command needs and dpkg has not.
#
#   ./x build [PRESET]          build grapnel: release (the default), debug, asan (with undefined behaviour, clang) or tsan (the tests
#                               of what has threads), into build/PRESET; `cmake --build` options may follow: --target all is
#                               the tests too
#   ./x test [--full] [FILTER]  build release and run all tests, or those whose name holds FILTER; PRESET=asan or tsan for another.
#                               --full: the long ones too, every graph replayed under asan and tsan, and the page under tsan
#   ./x replay PRESET           build the binary with PRESET and replay the graphs of the tests with it, of tsan the page in
#                               Chromium too (--full is GRAPNEL_FULL=1 here)
#   ./x demo                    build release and show the main job on real graphs
#   ./x bench [ARGUMENT...]     build and run the benchmarks, with google-benchmark's arguments
#   ./x format [--check]        format all sources in place, or only say whether they are
#   ./x lint [REVISION|--all]   clang-tidy on files changed since REVISION (origin/main, else HEAD~1), or on all
#   ./x fuzz [SECONDS [SEED]]   fuzz every reader in the asan build, SECONDS (3600) in all; crashes are kept in tests/fuzz/corpus.
#                               With a SEED the same inputs come in the same order
#   ./x package                 build release and make build/grapnel-VERSION-x86_64.tar.gz, which runs where nothing can be installed
#   ./x venv                    make .venv with the TensorFlow that the oracle tests compare with
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Hits in ccache across clones: paths relative to the checkout, and headers compared by content. A precompiled header is hashed
# once and not for each file, and nothing is preprocessed beside the compiler: else a miss costs a fifth of a compile more.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_INODECACHE=1 CCACHE_DEPEND=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

say() { printf 'x: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == *'ok installed' ]]; }

as_root() {
  if ((EUID == 0)); then env DEBIAN_FRONTEND=noninteractive "$@"; else sudo env DEBIAN_FRONTEND=noninteractive "$@"; fi
}

# need PACKAGE...: installs those that are missing.
need() {
  local package missing=()
  for package; do installed "$package" || missing+=("$package"); done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || command -v sudo >/dev/null || die "please install: ${missing[*]}"
  say "installing Debian packages: ${missing[*]}"
  { as_root apt-get update && as_root apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"; } \
    >/dev/null || die "cannot install them; please install: ${missing[*]}"
}

# llvm_version: 19 if there or to be had, else the newest from 16 on.
llvm_version() {
  local refresh version
  for refresh in true 'as_root apt-get update'; do
    $refresh >/dev/null 2>&1 || true
    for version in 19 18 17 16; do
      if installed "llvm-$version-dev" || apt-cache show "llvm-$version-dev" >/dev/null 2>&1; then
        echo "$version"
        return
      fi
    done
  done
  echo 19
}

# build PRESET [CMAKE_BUILD_ARGUMENT...]; of tsan, unless a target is named, the tests of what has threads. CONFIGURE may hold
# an argument for cmake.
build() {
  local preset=$1 llvm
  shift
  command -v dpkg-query >/dev/null || die "this is not Debian: see need() in x for the packages"
  llvm=$(llvm_version)
  need clang-14 lld-14 g++ cmake ninja-build ccache git python3 "llvm-$llvm-dev" "llvm-$llvm-tools" libprotobuf-dev protobuf-compiler \
    libgraphviz-dev libcli11-dev libgtest-dev libbenchmark-dev libdnnl-dev libeigen3-dev libfarmhash-dev libleveldb-dev libsnappy-dev \
    libre2-dev nlohmann-json3-dev zlib1g-dev libgif-dev libicu-dev libjpeg62-turbo-dev libpng-dev libboost-dev libbrotli-dev libsqlite3-dev \
    libhighwayhash-dev libzstd-dev pkg-config libjavascriptcoregtk-4.1-dev librsvg2-dev fonts-dejavu-core
  [[ $preset != [at]san ]] || need libclang-rt-14-dev llvm-14
  cmake --preset "$preset" ${CONFIGURE:+"$CONFIGURE"} >/dev/null
  if [[ $preset == tsan && $* != *--target* ]]; then set -- --target grapnel_threads_test "$@"; fi
  cmake --build "build/$preset" "$@"
}

run_tests() {
  local preset=${PRESET:-release} status=0 only=()
  if [[ ${1:-} == --full ]]; then
    export GRAPNEL_FULL=1
    shift
  fi
  if [[ -n ${1:-} ]]; then export GTEST_FILTER="*$1*" LIT_FILTER=$1 GRAPNEL_TEST_FILTER=$1; fi
  build "$preset"
  if [[ $preset == release ]]; then
    make_venv
    need chromium chromium-driver
  else
    only=(--label-exclude 'python|browser')
  fi
  run_ctest "$preset" --parallel "$(nproc)" --output-junit junit.xml "${only[@]}" || status=$?
  python3 tests/tally.py "build/$preset/junit.xml"
  if [[ -n ${GRAPNEL_FULL:-} && $preset == release ]]; then
    replay asan || status=$?
    replay tsan || status=$?
  fi
  return "$status"
}

# run_ctest PRESET [ARGUMENT...]. ThreadSanitizer needs addresses where it expects them: no randomised ones.
run_ctest() {
  local preset=$1 runner=()
  shift
  if [[ $preset == tsan ]] && setarch --addr-no-randomize true 2>/dev/null; then runner=(setarch --addr-no-randomize); fi
  "${runner[@]}" ctest --preset "$preset" "$@"
}

# The tests in tests/tools/replay*.test, with all kernels, and of tsan the page's server under the tests in Chromium.
replay() {
  local preset=$1 tests='^lit$'
  if [[ $preset == tsan ]]; then
    need chromium chromium-driver
    tests='^(lit|browser.*)$'
  fi
  CONFIGURE="-DGRAPNEL_KERNELS=" build "$preset" --target grapnel
  GRAPNEL_SLOWER=10 LIT_FILTER=tools/replay run_ctest "$preset" --tests-regex "$tests"
}

make_venv() {
  [[ -e .venv/ready ]] && return
  say "making .venv with TensorFlow, the oracle of the tests"
  need python3-venv
  { python3 -m venv .venv && .venv/bin/pip install --quiet tensorflow-cpu==2.21.0 tensorboard==2.21.0 >&2; } ||
    die "cannot make .venv: the tests compare with TensorFlow in it"
  touch .venv/ready
}

run_benches() {
  build release --target benches
  for bench in build/release/bin/grapnel_*_bench; do "$bench" "$@"; done
}

# All sources, also those that are not committed yet.
sources() { git ls-files --cached --others --exclude-standard -- '*.cpp' '*.h' '*.cu' '*.cuh'; }

run_format() {
  need clang-format-14
  local mode=(-i)
  [[ ${1:-} != --check ]] || mode=(--dry-run -Werror)
  sources | xargs --no-run-if-empty clang-format-14 "${mode[@]}"
}

# changed REVISION: sources that differ from it, a changed header standing for its .cpp as well.
changed() {
  { git diff --name-only --diff-filter=d "$1"; git ls-files --others --exclude-standard; } | sed -n 's/\.\(h\|cpp\)$/.cpp/p'
}

run_lint() {
  local base=${1:-}
  need clang-tidy-14
  build release --target grapnel_proto
  if [[ -z $base ]]; then
    base=$(git rev-parse --quiet --verify origin/main || true)
    [[ -n $base && $base != $(git rev-parse HEAD) ]] || base=$(git rev-parse --quiet --verify HEAD~1 || echo --all)
  fi
  # Without the precompiled header each file must include what it uses.
  mkdir -p build/lint
  sed -E 's/-Winvalid-pch //; s/(-Xclang -include(-pch)? -Xclang [^ ]* ?)+//' build/release/compile_commands.json >build/lint/compile_commands.json
  { if [[ $base == --all ]]; then sources | grep -v '\.cuh\?$'; else changed "$base"; fi; } | sort -u | while read -r file; do
    if grep -qF "$PWD/$file\"" build/lint/compile_commands.json; then echo "$file"; fi
  done | xargs --no-run-if-empty --max-procs="$(nproc)" --max-args=1 clang-tidy-14 -p build/lint --quiet 2>/dev/null
}

run_fuzz() {
  local fuzzers=(tests/fuzz/*_fuzz.cpp) source name log=build/asan/fuzz.log
  [[ -e ${fuzzers[0]} ]] || die "no fuzz targets in tests/fuzz"
  build asan --target fuzzers
  : >"$log"
  for source in "${fuzzers[@]}"; do
    name=$(basename "$source" _fuzz.cpp)
    mkdir -p "build/asan/corpus/$name" "tests/fuzz/corpus/$name"
    say "fuzzing $name"
    "build/asan/bin/grapnel_${name}_fuzz" -max_total_time=$((${1:-3600} / ${#fuzzers[@]} + 1)) -timeout=10 -rss_limit_mb=2048 -seed="${2:-0}" \
      -verbosity=0 -print_funcs=0 -print_final_stats=1 -artifact_prefix="tests/fuzz/corpus/$name/" \
      "build/asan/corpus/$name" "tests/fuzz/corpus/$name" 2>&1 | tee -a "$log"
  done
  say "$(awk '/number_of_executed_units/ { inputs += $2 } END { print inputs }' "$log") inputs, nothing found"
}

run_package() {
  local version
  build release --target grapnel
  version=$(build/release/bin/grapnel --version | cut -d' ' -f2)
  python3 scripts/package.py build/release/bin "build/grapnel-$version-x86_64.tar.gz"
  python3 scripts/package.py --check "build/grapnel-$version-x86_64.tar.gz"
}

command=${1:-help}
(($#)) && shift
case $command in
  build)
    preset=${1:-release}
    (($#)) && shift
    if [[ $preset != tsan && $* != *--target* ]]; then set -- --target grapnel "$@"; fi
    build "$preset" "$@"
    ;;
  test) run_tests "$@" ;;
  replay) replay "${@:-release}" ;;
  demo)
    build release --target grapnel
    tools/demo.sh build/release/bin/grapnel
    ;;
  bench) run_benches "$@" ;;
  format) run_format "$@" ;;
  lint) run_lint "$@" ;;
  fuzz) run_fuzz "$@" ;;
  package) run_package ;;
  venv) make_venv ;;
  help | -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' x ;;
  *) die "unknown command '$command': ./x prints what there is" ;;
esac
