#include "tools/built_with.h"

#include "kernels/cuda/cuda_build.h"
#include "lib/support/version.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/built_with_table.h"

namespace grapnel {

std::string VersionText() {
  return std::string("grapnel " GRAPNEL_VERSION " (") + CudaBuildText() + ")";
}

static void WritePackages(llvm::StringRef how, llvm::StringRef title, llvm::raw_ostream& os) {
  os << title << "\n";
  for (const BuiltWith& part : kBuiltWith) {
    if (part.how == how) os << llvm::formatv("  {0,-26} {1}", part.package, part.version) << "\n";
  }
}

std::string BuiltWithText() {
  std::string text = VersionText() + "\n";
  llvm::raw_string_ostream os(text);
  os << "compiled by " << __VERSION__ << " with libstdc++ " << _GLIBCXX_RELEASE << " and glibc "
     << __GLIBC__ << "." << __GLIBC_MINOR__ << ", " << kBuildType << ", for x86-64-v2, kernels for "
     << kKernelCpu << "\n";
  WritePackages("linked", "linked:", os);
  WritePackages("opened", "loaded by modules on demand:", os);
  WritePackages("headers", "headers only:", os);
  return llvm::StringRef(text).rtrim().str();
}

}  // namespace grapnel
