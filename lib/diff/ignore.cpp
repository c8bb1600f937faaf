#include "lib/diff/ignore.h"

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

bool OnlyFilters::Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const {
  return FitsAny(names, name) || FitsAny(ops, op) ||
         (!function.empty() && FitsAny(functions, function));
}

}  // namespace grapnel
