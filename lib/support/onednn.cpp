#include "lib/support/onednn.h"

#include <cstdlib>

#include "llvm/ADT/StringSwitch.h"
#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace grapnel {
namespace {

#ifdef __x86_64__
// True if the processor has AVX512-VNNI, AVX512-BF16, AVX-VNNI or AMX. Uses the CPUID instruction
// (leaf 7), because it depends on the compiler which of these names __builtin_cpu_supports knows.
bool HasNeuralInstructions() {
  constexpr unsigned kExtendedFeatures = 7;
  constexpr unsigned kAvx512Vnni = 1u << 11;                         // ecx of subleaf 0
  constexpr unsigned kAmx = (1u << 22) | (1u << 24) | (1u << 25);    // edx: bfloat16, tile, int8
  constexpr unsigned kAvxVnni = 1u << 4, kAvx512Bfloat16 = 1u << 5;  // eax of subleaf 1
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid_count(kExtendedFeatures, 0, &eax, &ebx, &ecx, &edx)) return false;
  const unsigned subleaves = eax;
  // For these two features, the builtin also checks that the operating system saves the AVX
  // registers.
  const bool has_avx512 = __builtin_cpu_supports("avx512f"),
             has_avx = __builtin_cpu_supports("avx");
  if ((edx & kAmx) != 0 || (has_avx512 && (ecx & kAvx512Vnni) != 0)) return true;
  if (subleaves < 1 || !__get_cpuid_count(kExtendedFeatures, 1, &eax, &ebx, &ecx, &edx))
    return false;
  return (has_avx && (eax & kAvxVnni) != 0) || (has_avx512 && (eax & kAvx512Bfloat16) != 0);
}
#else
bool HasNeuralInstructions() { return false; }
#endif

}  // namespace

std::optional<OneDnn> ParseOneDnn(llvm::StringRef word) {
  return llvm::StringSwitch<std::optional<OneDnn>>(word)
      .Case("auto", OneDnn::kAuto)
      .Case("on", OneDnn::kOn)
      .Case("off", OneDnn::kOff)
      .Default(std::nullopt);
}

bool UsesOneDnn(OneDnn choice) {
  if (choice != OneDnn::kAuto) return choice == OneDnn::kOn;
  const char* variable = std::getenv("TF_ENABLE_ONEDNN_OPTS");
  llvm::StringRef value = variable ? variable : "";
  if (value == "0" || value.equals_insensitive("false")) return false;
  if (value == "1" || value.equals_insensitive("true")) return true;
  return HasNeuralInstructions();
}

}  // namespace grapnel
