#include "lib/policy/node_origin.h"

#include "lib/ir/node_types.h"
#include "lib/policy/checked_model.h"

namespace grapnel {
namespace {

std::string Placed(llvm::StringRef function, llvm::StringRef node) {
  return function.empty() ? node.str() : (function + "/" + node).str();
}

// Returns the model's node from which a node of a rewrite comes: for an inlined node ("call/node";
// in a loop or branch "while/body/_7/node"), the function's node. Null for a node that a pass
// created.
Node OriginOf(const Graph& body, llvm::StringRef name) {
  if (Node node = body.Find(name)) return node;
  for (size_t at = name.find('/'); at != llvm::StringRef::npos; at = name.find('/', at + 1)) {
    Node caller = body.Find(name.take_front(at));
    if (!caller) continue;
    llvm::StringRef within = name.drop_front(at + 1);
    llvm::StringRef behind_number = within.split('/').second.split('/').second;
    for (llvm::StringRef called : CalledFunctions(caller)) {
      const Function* function = body.module().FindFunction(called);
      if (!function || &function->body == &body) continue;
      if (Node node = OriginOf(function->body, within)) return node;
      if (Node node = OriginOf(function->body, behind_number)) return node;
    }
  }
  return Node();
}

}  // namespace

std::string NameOfOrigin(const Module& module, llvm::StringRef function, llvm::StringRef name) {
  const Function* of = function.empty() ? nullptr : module.FindFunction(function);
  Node node = OriginOf(of ? of->body : module.main, name);
  return node ? FullNameOf(node) : Placed(function, name);
}

}  // namespace grapnel
