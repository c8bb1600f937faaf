#include "lib/job/missed_optimizations.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

Expected<MissedOptimizations> FindMissedOptimizations(OpenedGraph& opened, OptimizeRequest request,
                                                      llvm::StringRef rule) {
  MissedOptimizations undone;
  undone.made = MadeNodes(opened.module());
  auto is_asked_for = [&](llvm::StringRef pass, llvm::StringRef name) {
    return rule.empty() || rule == name || rule == pass || rule == (pass + "/" + name).str();
  };
  request.wants_near_misses = true;
  auto tell = std::move(request.on_rewrite);
  request.on_rewrite = [&](const Rewrite& rewrite) {
    undone.made.Note(rewrite);
    undone.rewrites += is_asked_for(rewrite.pass, rewrite.rule);
    if (tell) tell(rewrite);
  };
  ASSIGN_OR_RETURN(Optimized done, Optimize(opened, request));
  if (done.failure) return Annotate(opened.model().path, done.AsError());
  undone.assumed = done.AssumedText();
  undone.refusals = std::move(done.near_misses);
  undone.intermediate = std::move(done.intermediate);
  for (auto* refusals : {&undone.refusals, &undone.intermediate}) {
    llvm::erase_if(*refusals, [&](const Refusal& refusal) {
      return !is_asked_for(refusal.pass, refusal.rule);
    });
  }
  return undone;
}

}  // namespace grapnel
