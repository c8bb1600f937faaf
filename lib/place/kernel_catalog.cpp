#include "lib/place/kernel_catalog.h"

#include <map>

#include "lib/place/tensorflow_kernels.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Catalogs = std::map<std::string, RegisterKernelCatalog::Make, std::less<>>;

Catalogs& Registered() {
  // Never freed: threads may still place graphs while the process ends.
  static auto* catalogs = new Catalogs{
      {"tensorflow", [] { return MakeTensorFlowKernels(); }},
      {"tensorflow-2.16", [] { return MakeTensorFlowKernels(TensorFlowVersion::k2_16); }},
      {"tensorflow-2.13", [] { return MakeTensorFlowKernels(TensorFlowVersion::k2_13); }}};
  return *catalogs;
}

}  // namespace

RegisterKernelCatalog::RegisterKernelCatalog(llvm::StringRef name, Make make) {
  Registered().emplace(name.str(), make);
}

Expected<std::unique_ptr<KernelCatalog>> MakeKernelCatalog(llvm::StringRef name) {
  auto found = Registered().find(name);
  if (found != Registered().end()) return found->second();
  std::vector<llvm::StringRef> names;
  for (const auto& [known, make] : Registered()) names.push_back(known);
  return MakeError("kernels '{0}': expected {1}", name, llvm::join(names, " or "));
}

}  // namespace grapnel
