#include "lib/diff/ignore.h"

#include <set>

#include "lib/support/suggest.h"

namespace grapnel {
Expected<IgnoreRules> IgnoreRules::Parse(llvm::ArrayRef<std::string> rules) {
  IgnoreRules out;
  for (llvm::StringRef rule : rules) {
    if (rule == "device") {
      out.device = true;
    } else if (rule == "control") {
      out.control = true;
    } else if (rule.contains(':')) {
      auto [kind, pattern] = rule.split(':');
      if (kind != "node" && kind != "op")
        return MakeError("node:GLOB or op:GLOB was expected, not '{0}'", rule);
      ASSIGN_OR_RETURN(Glob glob, Glob::Parse(pattern));
      (kind == "node" ? out.nodes : out.ops).push_back(std::move(glob));
    } else {
      ASSIGN_OR_RETURN(Glob glob, Glob::Parse(rule));
      out.attributes.push_back(std::move(glob));
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
  for (llvm::StringRef text : filters) {
    Filter filter;
    filter.kind = text.consume_front("op:")         ? Filter::kOp
                  : text.consume_front("function:") ? Filter::kFunction
                                                    : Filter::kName;
    filter.text = text.str();
    ASSIGN_OR_RETURN(Glob glob, Glob::Parse(text));
    filter.globs.push_back(std::move(glob));
    if (filter.kind == Filter::kName) {
      ASSIGN_OR_RETURN(Glob inside, Glob::Parse(filter.text + "/*"));
      filter.globs.push_back(std::move(inside));
    }
    out.filters.push_back(std::move(filter));
  }
  return out;
}

Error IgnoreRules::CheckFits(const Module& a, const Module& b) const {
  std::set<std::string> keys = {"control", "device"};
  auto add = [&](const Graph& graph) {
    for (Node node : graph.nodes())
      node.ForEachAttr([&](llvm::StringRef key, AttrView) { keys.insert(key.str()); });
  };
  for (const Module* module : {&a, &b}) {
    if (attributes.empty()) break;
    add(module->main);
    for (const auto& function : module->functions) add(function->body);
  }
  std::vector<std::string> names(keys.begin(), keys.end());
  for (const Glob& glob : attributes) {
    if (llvm::none_of(names, [&](const std::string& key) { return glob.Fits(key); }))
      return NotFound("attribute", glob.text(), names);
  }
  return Error::success();
}

Error OnlyFilters::Resolve(const Module& a, const Module& b, Find find) {
  for (Filter& filter : filters) {
    std::vector<std::string> names;  // the names that this kind of filter is compared with
    auto fits = [&](const Graph& graph, llvm::StringRef function) {
      for (Node node : graph.nodes()) {
        std::string name = (function + (function.empty() ? "" : "/") + node.name()).str();
        if (filter.Fits(name, node.op(), function)) return true;
        if (filter.kind == Filter::kName) names.push_back(std::move(name));
        if (filter.kind == Filter::kOp) names.push_back(node.op().str());
      }
      if (filter.kind == Filter::kFunction && !function.empty()) names.push_back(function.str());
      return false;
    };
    auto fits_in = [&](const Module& module) {
      return fits(module.main, "") || llvm::any_of(module.functions, [&](const auto& function) {
               return fits(function->body, function->name());
             });
    };
    if (fits_in(a) || fits_in(b)) continue;
    for (const Module* module : {&a, &b}) {
      if (filter.kind != Filter::kName) break;
      ASSIGN_OR_RETURN(NodeSelection nodes, find(*module, filter.text));
      if (!nodes.nodes().empty()) filter.chosen.push_back(std::move(nodes));
    }
    if (!filter.chosen.empty()) continue;
    const char* kinds[] = {"node or scope", "op", "function"};
    return NotFound(kinds[filter.kind], filter.text, names);
  }
  return Error::success();
}

bool OnlyFilters::Filter::Fits(llvm::StringRef name, llvm::StringRef op,
                               llvm::StringRef function) const {
  if (kind == kFunction) return !function.empty() && FitsAny(globs, function);
  return FitsAny(globs, kind == kOp ? op : name) ||
         llvm::any_of(chosen, [&](const NodeSelection& nodes) { return nodes.Has(name); });
}

bool OnlyFilters::Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const {
  return llvm::any_of(filters,
                      [&](const Filter& filter) { return filter.Fits(name, op, function); });
}

}  // namespace grapnel
