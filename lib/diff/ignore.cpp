#include "lib/diff/ignore.h"

#include "lib/support/suggest.h"

namespace grapnel {
namespace {

Error AddGlob(const char* flag, llvm::StringRef text, std::vector<Glob>* globs) {
  auto glob = Glob::Parse(text);
  if (!glob) return Annotate(flag, glob.takeError());
  globs->push_back(std::move(*glob));
  return Error::success();
}

}  // namespace

Expected<IgnoreRules> IgnoreRules::Parse(llvm::ArrayRef<std::string> rules) {
  IgnoreRules out;
  for (llvm::StringRef rule : rules) {
    if (rule == "device") {
      out.device = true;
    } else if (rule == "control") {
      out.control = true;
    } else if (rule.contains(':')) {
      auto [kind, glob] = rule.split(':');
      if (kind != "node" && kind != "op")
        return MakeError("--ignore knows node:GLOB and op:GLOB, not '{0}'", rule);
      RETURN_IF_ERROR(AddGlob("--ignore", glob, kind == "node" ? &out.nodes : &out.ops));
    } else {
      RETURN_IF_ERROR(AddGlob("--ignore", rule, &out.attributes));
    }
  }
  return out;
}

bool IgnoreRules::Attribute(llvm::StringRef key) const { return FitsAny(attributes, key); }

bool IgnoreRules::WholeNode(llvm::StringRef name, llvm::StringRef op) const {
  return FitsAny(nodes, name) || FitsAny(ops, op);
}

Expected<OnlyFilters> OnlyFilters::Parse(llvm::ArrayRef<std::string> filters) {
  OnlyFilters out;
  for (llvm::StringRef filter : filters) {
    std::vector<Glob>& globs = filter.consume_front("op:")         ? out.ops
                               : filter.consume_front("function:") ? out.functions
                                                                   : out.names;
    RETURN_IF_ERROR(AddGlob("--only", filter, &globs));
    if (&globs == &out.names) RETURN_IF_ERROR(AddGlob("--only", filter.str() + "/*", &globs));
  }
  return out;
}

Error OnlyFilters::DemandFits(llvm::ArrayRef<std::string> filters, const Module& a,
                              const Module& b) {
  for (const std::string& filter : filters) {
    ASSIGN_OR_RETURN(OnlyFilters only, Parse(filter));
    std::vector<std::string> names;  // of what such a filter is for
    auto fits = [&](const Graph& graph, llvm::StringRef function) {
      for (Node node : graph.nodes()) {
        std::string name = (function + (function.empty() ? "" : "/") + node.name()).str();
        if (only.Fits(name, node.op(), function)) return true;
        if (!only.ops.empty()) name = node.op().str();
        if (only.functions.empty()) names.push_back(std::move(name));
      }
      if (!only.functions.empty() && !function.empty()) names.push_back(function.str());
      return false;
    };
    auto fits_in = [&](const Module& module) {
      return fits(module.main, "") || llvm::any_of(module.functions, [&](const auto& function) {
               return fits(function->body, function->name());
             });
    };
    if (fits_in(a) || fits_in(b)) continue;
    llvm::StringRef text = filter;
    const char* kind = text.consume_front("op:")         ? "op"
                       : text.consume_front("function:") ? "function"
                                                         : "node or scope";
    return Annotate("--only", NotFound(kind, text, names));
  }
  return Error::success();
}

bool OnlyFilters::Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const {
  return FitsAny(names, name) || FitsAny(ops, op) ||
         (!function.empty() && FitsAny(functions, function));
}

}  // namespace grapnel
