#include "lib/diff/ignore.h"

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool FitsAny(llvm::ArrayRef<std::string> globs, llvm::StringRef text) {
  return llvm::any_of(globs, [&](const std::string& glob) { return GlobMatch(glob, text); });
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
      (kind == "node" ? out.nodes : out.ops).push_back(glob.str());
    } else {
      out.attributes.push_back(rule.str());
    }
  }
  return out;
}

bool IgnoreRules::Attribute(llvm::StringRef key) const { return FitsAny(attributes, key); }

bool IgnoreRules::WholeNode(llvm::StringRef name, llvm::StringRef op) const {
  return FitsAny(nodes, name) || FitsAny(ops, op);
}

OnlyFilters OnlyFilters::Parse(llvm::ArrayRef<std::string> filters) {
  OnlyFilters out;
  for (llvm::StringRef filter : filters) {
    if (filter.consume_front("op:")) {
      out.ops.push_back(filter.str());
    } else if (filter.consume_front("function:")) {
      out.functions.push_back(filter.str());
    } else {
      out.names.push_back(filter.str());
      out.names.push_back(filter.str() + "/*");
    }
  }
  return out;
}

bool OnlyFilters::Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const {
  return FitsAny(names, name) || FitsAny(ops, op) ||
         (!function.empty() && FitsAny(functions, function));
}

}  // namespace grapnel
