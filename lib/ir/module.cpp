#include "lib/ir/module.h"

#include <cstring>

namespace grapnel {

std::string Problem::ToString() const {
  return where.empty() ? text : "node '" + where + "': " + text;
}

llvm::StringRef Function::name() const { return body.module().strings.Get(name_id); }

Function* Module::FindFunction(llvm::StringRef name) const { return functions_by_name_.lookup(name); }

Function* Module::AddFunction(llvm::StringRef name) {
  functions.push_back(std::make_unique<Function>(this, strings.Intern(name)));
  functions_by_name_.try_emplace(name, functions.back().get());
  return functions.back().get();
}

void Module::RetainFunctions(llvm::function_ref<bool(const Function&)> keep) {
  std::vector<std::unique_ptr<Function>> kept;
  for (auto& function : functions) {
    if (keep(*function)) {
      kept.push_back(std::move(function));
    } else if (FindFunction(function->name()) == function.get()) {
      functions_by_name_.erase(function->name());
    }
  }
  functions = std::move(kept);
}

llvm::StringRef Module::Keep(llvm::ArrayRef<llvm::StringRef> pieces) {
  size_t size = 0;
  for (llvm::StringRef piece : pieces) size += piece.size();
  char* copy = static_cast<char*>(bytes_.Allocate(std::max<size_t>(size, 1), 1));
  char* at = copy;
  for (llvm::StringRef piece : pieces) {
    if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  return {copy, size};
}

std::vector<Body> Bodies(Module& module) {
  std::vector<Body> bodies = {{&module.main, nullptr}};
  for (auto& function : module.functions) bodies.push_back({&function->body, function.get()});
  return bodies;
}

}  // namespace grapnel
