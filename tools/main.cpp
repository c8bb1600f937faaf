// The entry point of the binary. Tests that run commands link everything except this file.
#include <cstdio>
#include <cstdlib>

#include "llvm/ADT/StringRef.h"
#include "tools/command.h"
#include "tools/program.h"

namespace {

// Reports a processor that lacks an instruction set that the build selected, since kernels use all
// of these.
__attribute__((constructor(101))) void CheckProcessor() {
  __builtin_cpu_init();
  bool wants_v3 = llvm::StringRef(GRAPNEL_CPU) == "x86-64-v3";
  if (wants_v3 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2"))) {
    std::fputs(
        "grapnel: this build needs a processor with AVX2, FMA and BMI2 (build with "
        "-DGRAPNEL_CPU=x86-64-v2 for older ones)\n",
        stderr);
    std::_Exit(grapnel::kExitBadInput);
  }
}

}  // namespace

int main(int argc, char** argv) { return grapnel::RunProgram(argc, argv); }
