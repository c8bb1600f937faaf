#include "lib/job/without_constants.h"

#include <cassert>

#include "lib/io/strip_constants.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

using AttrList = std::vector<std::pair<llvm::StringRef, AttrView>>;

std::optional<AttrView> FindIn(const AttrList& attrs, llvm::StringRef key) {
  for (const auto& [name, value] : attrs) {
    if (name == key) return value;
  }
  return std::nullopt;
}

// Recomputes the texts of changes from the current attributes.
void Retell(const AttrList& a, const AttrList& b, std::vector<Change>* changes) {
  for (Change& change : *changes) {
    auto before = FindIn(a, change.what), after = FindIn(b, change.what);
    if (!before && !after) continue;  // not a change of an attribute, but of an op, device or input
    change.before = before ? before->ToString() : "";
    change.after = after ? after->ToString() : "";
    if (change.before == change.after) change.after += " (another value)";
  }
}

AttrList AttrsOf(const Module& module, const std::string& function) {
  const Function* found = function.empty() ? nullptr : module.FindFunction(function);
  return found ? found->Attrs() : AttrList();
}

}  // namespace

Expected<OpenedGraph> WithoutConstants(OpenedGraph opened) {
  assert(&opened.module() == opened.file().module.get());
  ASSIGN_OR_RETURN(FeedsAndFetches ends, FeedsAndFetchesOf(opened, {}, {}));
  auto model = std::make_shared<Model>();
  model->kind = opened.model().kind;
  model->path = llvm::sys::path::filename(llvm::StringRef(opened.model().path).rtrim('/')).str();
  const GraphInFile& file = opened.file();
  GraphInFile& graph = model->graphs.emplace_back();
  graph.title = file.title;
  graph.tags = file.tags;
  graph.signatures = file.signatures;
  graph.feeds = std::move(ends.feeds);
  graph.fetches = std::move(ends.fetches);
  graph.module = opened.TakeModule();
  StripConstants(graph.module.get());
  return OpenedGraph(std::move(model), 0);
}

void StripConstants(Module* a, Module* b, Diff* diff) {
  StripConstants(a);
  StripConstants(b);
  for (MatchedPair& pair : diff->matched) {
    if (!pair.changes.empty()) Retell(pair.a.node.Attrs(), pair.b.node.Attrs(), &pair.changes);
  }
  for (FunctionEntry& function : diff->functions) {
    if (!function.changes.empty())
      Retell(AttrsOf(*a, function.a), AttrsOf(*b, function.b), &function.changes);
  }
}

}  // namespace grapnel
