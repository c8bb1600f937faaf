#include "lib/watch/tap_filter.h"

#include "lib/ir/types.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool Fits(llvm::ArrayRef<Glob> globs, llvm::StringRef name) {
  return globs.empty() || FitsAny(globs, name);
}

llvm::StringRef NameOfFunction(const Node& node) {
  const Function* function = FunctionOf(node.graph());
  return function ? function->name() : "";
}

// Errors: a glob matches none of the known names. `names` calls its argument with each known name.
template <typename Names>
Error Demand(llvm::ArrayRef<Glob> globs, const char* flag, const char* kind, const Names& names) {
  for (const Glob& glob : globs) {
    bool is_there = false;
    names([&](llvm::StringRef name) { is_there = is_there || glob.Fits(name); });
    if (!is_there) return Annotate(flag, NotFound(kind, glob.text(), names));
  }
  return Error::success();
}

template <typename Take>
void ForEachNode(const Module& module, Take take) {
  for (Node node : module.main.nodes()) take(node);
  for (const auto& function : module.functions) {
    for (Node node : function->body.nodes()) take(node);
  }
}

}  // namespace

bool TapFilter::FitsName(const Node& node) const {
  if (names.empty() && chosen.empty()) return true;
  return FitsAny(names, node.name()) ||
         llvm::any_of(chosen, [&](const NodeSelection& nodes) { return nodes.Has(node); });
}

bool TapFilter::FitsNode(const Node& node) const {
  return FitsName(node) && Fits(ops, node.op()) && Fits(functions, NameOfFunction(node));
}

bool TapFilter::FitsDtype(DataType dtype) const { return Fits(dtypes, DataTypeName(dtype)); }

std::string TapFilter::WhyNot(const Node& node) const {
  if (!FitsName(node)) return "its name matches no --tap";
  if (!Fits(ops, node.op())) return ("its op " + node.op() + " matches no --tap-op").str();
  if (Fits(functions, NameOfFunction(node))) return "";
  return ("it is in " + (NameOfFunction(node).empty() ? "the main graph" : NameOfFunction(node)) +
          ", which matches no --tap-function")
      .str();
}

Error CheckNodes(const Module& module, llvm::ArrayRef<Glob> globs, const char* flag) {
  auto nodes = [&](NameSink take) { ForEachNode(module, [&](Node node) { take(node.name()); }); };
  return Demand(globs, flag, "node", nodes);
}

Error CheckTapped(const Module& module, const TapFilter& filter) {
  auto ops = [&](NameSink take) { ForEachNode(module, [&](Node node) { take(node.op()); }); };
  auto functions = [&](NameSink take) {
    take("");
    for (const auto& function : module.functions) take(function->name());
  };
  auto dtypes = [&](NameSink take) {
    for (int type = proto::DataType_MIN; type <= proto::DT_INT2; ++type) {
      if (proto::DataType_IsValid(type)) take(DataTypeName(static_cast<DataType>(type)));
    }
  };
  RETURN_IF_ERROR(CheckNodes(module, filter.names, "--tap"));
  RETURN_IF_ERROR(Demand(filter.ops, "--tap-op", "op", ops));
  RETURN_IF_ERROR(Demand(filter.functions, "--tap-function", "function", functions));
  return Demand(filter.dtypes, "--tap-dtype", "dtype", dtypes);
}

}  // namespace grapnel
