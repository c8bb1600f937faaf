#include "lib/job/signature_changes.h"

#include <map>
#include <optional>

#include "lib/io/signature.h"
#include "lib/job/signature_graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Maps each signature to the first one that runs the same network.
llvm::StringMap<std::string> Networks(const GraphInFile& file) {
  llvm::StringMap<std::string> first;
  for (const auto& network : SignaturesByNetwork(file))
    for (const Signature* signature : network) first[signature->name] = network.front()->name;
  return first;
}

Expected<OpenedGraph> NetworkOf(const OpenedGraph& whole, llvm::StringRef signature) {
  OpenedGraph network = whole.Copy();
  RETURN_IF_ERROR(TakeSignature(signature, {}, &network).takeError());
  return std::move(network);
}

}  // namespace

Expected<std::vector<std::string>> SignaturesToCompare(const OpenedGraph& a, const OpenedGraph& b) {
  llvm::StringMap<std::string> of_a = Networks(a.file()), of_b = Networks(b.file());
  bool is_clear =
      of_a.empty() || of_b.empty() || (DefaultSignature(a.file()) && DefaultSignature(b.file()));
  if (is_clear) return std::vector<std::string>(1);
  std::vector<std::string> names;
  for (const Signature* signature : DistinctSignatures(a.file()))
    if (of_b.count(signature->name)) names.push_back(signature->name);
  for (const Signature* signature : DistinctSignatures(b.file()))
    if (of_a.count(signature->name) && !llvm::is_contained(names, signature->name))
      names.push_back(signature->name);
  if (!names.empty()) return names;
  for (const OpenedGraph* side : {&a, &b})
    RETURN_IF_ERROR(ChooseOneSignature(side->model(), side->file()).takeError());
  return std::vector<std::string>(1);
}

Expected<std::vector<SignatureDiff>> CompareSignatures(const OpenedGraph& a, const OpenedGraph& b,
                                                       const Diff& diff,
                                                       const DiffOptions& options) {
  const OpenedGraph &whole_a = a.whole(), &whole_b = b.whole();
  std::vector<SignatureDiff> signatures = DiffInterfaces(whole_a.file(), whole_b.file());
  llvm::StringMap<std::string> of_a = Networks(whole_a.file()), of_b = Networks(whole_b.file());
  auto taken = [](const OpenedGraph& side, const llvm::StringMap<std::string>& networks) {
    const std::vector<Signature>& own = side.file().signatures;
    return own.size() == 1 ? networks.lookup(own.front().name) : std::string();
  };
  using Pair = std::pair<std::string, std::string>;
  std::map<Pair, NodeChanges> known;
  known[{taken(a, of_a), taken(b, of_b)}] = ChangesOf(a.module(), b.module(), diff);
  for (SignatureDiff& one : signatures) {
    if (!one.in_a || !one.in_b) continue;
    Pair pair(of_a.lookup(one.name), of_b.lookup(one.name));
    auto [nodes, is_new] = known.try_emplace(pair);
    if (is_new) {
      ASSIGN_OR_RETURN(OpenedGraph network_a, NetworkOf(whole_a, pair.first));
      ASSIGN_OR_RETURN(OpenedGraph network_b, NetworkOf(whole_b, pair.second));
      Diff own = DiffModules(network_a.module(), network_b.module(), options);
      nodes->second = ChangesOf(network_a.module(), network_b.module(), own);
    }
    one.nodes = nodes->second;
  }
  return signatures;
}

}  // namespace grapnel
