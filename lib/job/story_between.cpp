#include "lib/job/story_between.h"

#include "lib/ir/types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool ChangesDtypes(const Diff& diff) {
  return llvm::any_of(diff.matched, [](const MatchedPair& pair) {
    return llvm::any_of(pair.changes, [](const Change& change) {
      return ParseDataType(change.before) && ParseDataType(change.after);
    });
  });
}

// Compares the graphs regardless of dtypes: where these differ, nodes have fewer equal neighbors.
Diff DiffRegardlessOfDtypes(const OpenedGraph& a, const OpenedGraph& b,
                            const DiffOptions& options) {
  DiffOptions more = options;
  IgnoreRules dtypes = IgnoredByLayers();
  llvm::append_range(more.ignore.attributes, dtypes.attributes);
  return DiffModules(a.module(), b.module(), more);
}

}  // namespace

LayerStory StoryBetween(const OpenedGraph& a, const OpenedGraph& b, const Diff& diff,
                        const DiffOptions& options, const ValueReport* values) {
  if (diff.Same() && (!values || values->different.empty())) return {};
  const LayerNames before(a.file());
  // A later stage may lack the variables by which layers are found.
  const LayerNames now = options.by_name ? before : LayerNames(b.file());
  if (!options.by_name && before.empty() && now.empty()) return {};
  bool is_own = !options.by_name && !options.provenance && ChangesDtypes(diff);
  const Diff own = is_own ? DiffRegardlessOfDtypes(a, b, options) : Diff();
  DiffOfLayers graphs{a.module(), b.module(), is_own ? own : diff, before, now};
  graphs.of_stages = options.by_name;
  return StoryOf(graphs, values);
}

}  // namespace grapnel
