#include "lib/place/kernel_catalogue.h"

#include <map>

#include "lib/place/tensorflow_kernels.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Catalogues = std::map<std::string, RegisterKernelCatalogue::Make, std::less<>>;

Catalogues& Registered() {
  // Never freed: threads may still place graphs while the process ends.
  static auto* catalogues = new Catalogues{
      {"tensorflow", [] { return MakeTensorFlowKernels(); }},
      {"tensorflow-2.16", [] { return MakeTensorFlowKernels(TensorFlowVersion::k2_16); }},
      {"tensorflow-2.13", [] { return MakeTensorFlowKernels(TensorFlowVersion::k2_13); }}};
  return *catalogues;
}

}  // namespace

RegisterKernelCatalogue::RegisterKernelCatalogue(llvm::StringRef name, Make make) {
  Registered().emplace(name.str(), make);
}

Expected<std::unique_ptr<KernelCatalogue>> MakeKernelCatalogue(llvm::StringRef name) {
  auto found = Registered().find(name);
  if (found != Registered().end()) return found->second();
  std::vector<llvm::StringRef> names;
  for (const auto& [known, make] : Registered()) names.push_back(known);
  return MakeError("kernels '{0}': expected {1}", name, llvm::join(names, " or "));
}

}  // namespace grapnel
