#!/usr/bin/env bash
# The main job, twice: on a function traced in C++, and on a real network.   usage: demo.sh GRAPNEL [OUT_DIR]
set -euo pipefail
grapnel=$1
out=${2:-build/demo}
root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$out"
mkdir -p "$out"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
  printf '$ grapnel %s\n' "$*"
  "$grapnel" "$@"
}
# Exit code 1 of diff means "they differ", which is not a failure here.
differs() { run diff "$@" || [ $? -eq 1 ]; }

say "1. A function written in C++ becomes a graph (lib/trace/examples.cpp)"
run trace harmonic_mean -o "$out/harmonic_mean.pb"
run info "$out/harmonic_mean.pb"

say "2. Optimized as Grappler does, with a dump around each pass: model_pruner removes the unused Min"
run opt "$out/harmonic_mean.pb" --fetch Identity --explain --dump-dir "$out/dumps" -o "$out/harmonic_mean.optimized.pb"
ls "$out/dumps"

say "3. The differences between the two graphs"
differs "$out/harmonic_mean.pb" "$out/harmonic_mean.optimized.pb"

say "4. Run, with a tap on every tensor"
run run "$root/testdata/harmonic_mean" --tap '*'

say "5. Drawn: with a tf.print in the function the Min stays, held by a dashed control edge"
run view "$root/testdata/harmonic_mean_print" -o "$out/harmonic_mean_print.svg"

say "6. A real network: what is in it"
run info "$root/testdata/models/lenet"

say "7. Optimized, fused, and still the same numbers"
run opt "$root/testdata/models/lenet" --device /device:CPU:0 --timing --dump-dir "$out/lenet_dumps" -o "$out/lenet.optimized.pb"
differs "$root/testdata/models/lenet/graph.pb" "$out/lenet.optimized.pb" --quiet
run replay "$root/testdata/models/lenet" --optimize --repeat 20
run run "$root/testdata/models/lenet" --tap '*Relu*'

say "8. Why not: fusions that nearly happened"
run passes --why-not remapper "$root/testdata/models/lenet" --device /device:CPU:0

say "9. Before and after: drawn, as a page, and the differences between them"
run view "$root/testdata/models/lenet" -o "$out/lenet.svg"
run view "$out/lenet.optimized.pb" -o "$out/lenet.optimized.svg"
run view "$out/lenet.optimized.pb" -o "$out/lenet.optimized.html"
differs "$root/testdata/models/lenet/graph.pb" "$out/lenet.optimized.pb" --quiet -o "$out/lenet.diff.svg"

say "Open these files, of those in $out:"
printf '  %-38s %s\n' "$out/lenet.optimized.svg" "a picture: the network after the optimization" \
  "$out/lenet.optimized.html" "a page: open scopes, follow edges, find nodes" \
  "$out/lenet.diff.svg" "a diff: what the optimization removed, added and changed"
