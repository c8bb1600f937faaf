#include "lib/ir/node_selection.h"

#include "lib/ir/tensor_name.h"

namespace grapnel {
namespace {

// True if `name` is `scope`, or in it.
bool IsIn(llvm::StringRef name, llvm::StringRef scope) {
  return name.consume_front(scope) && (name.empty() || name.starts_with("/"));
}

bool HasNode(const Module& module, llvm::StringRef name) {
  if (module.main.Find(name)) return true;
  auto [function_name, inner] = name.split('/');
  const Function* function = module.FindFunction(function_name);
  return function && function->body.Find(inner);
}

// Calls `visit` with the name, and with what follows each '/' in it, until it returns true.
bool AnyTail(llvm::StringRef name, llvm::function_ref<bool(llvm::StringRef)> visit) {
  for (;;) {
    if (visit(name)) return true;
    size_t at = name.find('/');
    if (at == llvm::StringRef::npos) return false;
    name = name.drop_front(at + 1);
  }
}

}  // namespace

Expected<NodeSelection> NodeSelection::Parse(const Module& module, llvm::StringRef text) {
  NodeSelection selection;
  selection.text_ = text.str();
  for (llvm::StringRef part : {text, ReadTensorName(text).node}) {
    selection.part_ = part.rtrim('/').str();
    selection.is_whole_ = HasNode(module, selection.part_);
    if (selection.is_whole_) return selection;
  }
  ASSIGN_OR_RETURN(Glob glob, Glob::Parse(text));
  if (!glob.IsName()) selection.glob_ = std::move(glob);
  return selection;
}

NodeSelection NodeSelection::Of(std::string text, std::set<std::string, std::less<>> names) {
  NodeSelection selection;
  selection.text_ = std::move(text);
  selection.names_ = std::move(names);
  return selection;
}

bool NodeSelection::Has(llvm::StringRef name) const {
  if (!names_.empty()) return names_.find(std::string_view(name)) != names_.end();
  if (is_whole_) return IsIn(name, part_);
  if (glob_) return AnyTail(name, [&](llvm::StringRef tail) { return glob_->Fits(tail); });
  if (part_.empty()) return false;
  return AnyTail(name, [&](llvm::StringRef tail) { return IsIn(tail, part_); });
}

}  // namespace grapnel
