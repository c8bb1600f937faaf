#include "lib/job/layer_output.h"

#include <map>
#include <set>

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

bool IsNumber(llvm::StringRef text) { return !text.empty() && llvm::all_of(text, llvm::isDigit); }

// True for "conv" and "conv_1" with the layer "conv".
bool IsScopeOf(llvm::StringRef last, llvm::StringRef layer) {
  return last.consume_front(layer) && (last.empty() || (last.consume_front("_") && IsNumber(last)));
}

bool IsIn(llvm::StringRef node, llvm::StringRef scope) {
  return node.consume_front(scope) && node.starts_with("/");
}

// Returns the scopes around a node, from the outermost: "a" and "a/b" for "a/b/x".
std::vector<llvm::StringRef> ScopesOf(llvm::StringRef node) {
  std::vector<llvm::StringRef> scopes;
  for (size_t at = node.find('/'); at != llvm::StringRef::npos; at = node.find('/', at + 1))
    scopes.push_back(node.take_front(at));
  return scopes;
}

llvm::StringRef LastPart(llvm::StringRef scope) { return scope.substr(scope.rfind('/') + 1); }

// The scopes of a body in which variables are read.
class Readers {
 public:
  Readers(const Graph& body, const VariableNames& variables) {
    for (Node node : body.nodes()) {
      for (int i = 0; i < node.num_inputs(); ++i) {
        Port port = node.input(i);
        if (port.node == kNoNode || TypeOfPort(body, port) != proto::DT_RESOURCE) continue;
        for (const std::string& name : variables(port)) Add(node.name(), name);
      }
    }
  }

  // True if a variable that lies directly in `layer` is read in the scope.
  bool ReadsVariableOf(llvm::StringRef layer, llvm::StringRef scope) const {
    auto read = read_in_.find(scope.str());
    return read != read_in_.end() && read->second.count(layer.str()) != 0;
  }

  // True if a layer's variables are read in a scope with a number after the layer's name.
  bool adds_numbers() const { return adds_numbers_; }

 private:
  void Add(llvm::StringRef node, llvm::StringRef variable) {
    llvm::StringRef layer = LastPart(variable.rsplit('/').first);
    if (!variable.contains('/') || layer.empty()) return;
    for (llvm::StringRef scope : ScopesOf(node)) {
      llvm::StringRef last = LastPart(scope);
      if (!IsScopeOf(last, layer)) continue;
      read_in_[scope.str()].insert(layer.str());
      adds_numbers_ |= last != layer;
    }
  }

  std::map<std::string, std::set<std::string>> read_in_;
  bool adds_numbers_ = false;
};

void AddOutputsOf(const Graph& body, llvm::StringRef scope, std::vector<Port>* outputs) {
  for (Node node : body.nodes()) {
    if (!IsIn(node.name(), scope)) continue;
    for (const Use& use : node.uses()) {
      Node reader = body.node(use.node);
      Port port = reader.input(static_cast<int>(use.slot));
      bool leaves = !port.IsControl() && !IsIn(reader.name(), scope);
      if (leaves && TypeOfPort(body, port) != proto::DT_RESOURCE &&
          !llvm::is_contained(*outputs, port))
        outputs->push_back(port);
    }
  }
}

}  // namespace

std::vector<Port> OutputsOfLayer(const Graph& body, llvm::StringRef layer,
                                 const VariableNames& variables) {
  std::set<llvm::StringRef> scopes;
  for (Node node : body.nodes()) {
    for (llvm::StringRef scope : ScopesOf(node.name()))
      if (IsScopeOf(LastPart(scope), layer)) scopes.insert(scope);
  }
  std::vector<llvm::StringRef> chosen(scopes.begin(), scopes.end());
  if (chosen.size() > 1) {
    Readers readers(body, variables);
    auto keep = [&](auto is_kept) {
      std::vector<llvm::StringRef> kept;
      llvm::copy_if(chosen, std::back_inserter(kept), is_kept);
      if (!kept.empty()) chosen = std::move(kept);
    };
    keep([&](llvm::StringRef scope) { return readers.ReadsVariableOf(layer, scope); });
    keep([&](llvm::StringRef scope) {
      return (LastPart(scope) == layer) != readers.adds_numbers();
    });
  }
  std::vector<Port> outputs;
  for (llvm::StringRef scope : chosen) AddOutputsOf(body, scope, &outputs);
  return outputs;
}

}  // namespace grapnel
