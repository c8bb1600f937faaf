#include "lib/io/shape_claims.h"

#include "lib/shape/arithmetic.h"
#include "lib/shape/inference.h"

namespace grapnel {
void CheckShapeClaims(llvm::ArrayRef<ShapeClaim> claims, Module* module) {
  while (!claims.empty()) {
    const std::string& name = claims[0].function;
    auto of_body =
        claims.take_while([&](const ShapeClaim& claim) { return claim.function == name; });
    claims = claims.drop_front(of_body.size());
    const Function* function = name.empty() ? nullptr : module->FindFunction(name);
    if (!name.empty() && !function) continue;
    const Graph& graph = function ? function->body : module->main;
    ShapeMap shapes = InferShapes(graph);
    for (const ShapeClaim& claim : of_body) {
      Node node = graph.Find(claim.node);
      if (!node) continue;
      const Shape& inferred = shapes.OfPort({node.id(), claim.port});
      if (MergeShapes(inferred, claim.shape)) continue;
      module->problems.push_back(
          {Severity::kError, name.empty() ? claim.node : name + "/" + claim.node,
           llvm::formatv("output {0} is {1}, but the text says {2}", claim.port,
                         inferred.ToString(), claim.shape.ToString())
               .str(),
           claim.place});
    }
  }
}

}  // namespace grapnel
