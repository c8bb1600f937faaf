// The question what became of some nodes in a run of passes, and which rules came close to them.
#ifndef GRAPNEL_LIB_JOB_NODE_QUESTION_H_
#define GRAPNEL_LIB_JOB_NODE_QUESTION_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/io/layers/layers.h"
#include "lib/ir/line_table.h"
#include "lib/ir/node_selection.h"
#include "lib/job/node_answer.h"
#include "lib/job/opened_graph.h"
#include "lib/pass/op_pattern.h"
#include "lib/pass/pass_manager.h"
#include "lib/pass/registry.h"

namespace grapnel {

// Follows the nodes of a selection through a run, those too that are inlined for them and, if the
// graph has none of that name, those that passes make, and collects what the rules say of them.
// Compares the graph around them with the rules' patterns: before the passes, and before each pass
// that has the rules.
class NodeQuestion : public Instrumentation {
 public:
  // `rule`: ask about these rules only ("pass/rule", "rule", "pass"); empty: all.
  NodeQuestion(NodeSelection nodes, std::string rule)
      : selection_(std::move(nodes)), asked_rule_(std::move(rule)) {}

  // The question about what `text` means in the graph (lib/job/name_resolver.h), or in graphs that
  // the passes make of it. Errors: an ambiguous name; a malformed pattern; nodes that are only in
  // the file from which the graph was taken.
  static Expected<std::unique_ptr<NodeQuestion>> About(const OpenedGraph& opened,
                                                       llvm::StringRef text, std::string rule);

  // For the job: makes the run of these options tell this question what it needs.
  void Join(OptimizeOptions* options);

  Error BeforePipeline(const Module& module) override;
  Error BeforePass(const Stage& stage, const Module& module) override;
  void OnRewrite(const Rewrite& rewrite) override;

  // The answers after the run, in the order of the graph. `module`: the result; `lines`: of the
  // original graph. `all`: all rules that came near, not only the closest. Error: there was no such
  // node, with similar names.
  Expected<std::vector<NodeAnswer>> Answers(const Module& module, const LineTable& lines, bool all);

 private:
  // A rule with its pattern.
  struct Sought {
    const Rule* rule;
    const PassRegistry::Entry* pass;
    std::vector<OpPattern> patterns;
    int place;  // among all rules, in the order of the passes
  };
  // The closest match of a rule's pattern, as text, because the graph changes.
  struct Seen {
    std::vector<NodeAndOp> nodes, between;
    std::string reason, remedy;
    int distance = 0;
    bool is_read = false;         // the last of `nodes`, by some node
    bool changes_values = false;  // the nodes in `between`
  };
  struct Asked {
    std::string function, name;
    NodeAndOp now;  // what stands for the node now; empty: nothing
    NodeAnswer answer;
    bool is_read = false;   // by some node, when last looked
    bool is_known = false;  // `first` has been filled
    // By Sought::place: when the node was first seen; at best, before the pass of the rule.
    std::map<int, Seen> first, last;
    std::map<int, size_t> broken;  // the rewrite that ended a complete match
  };
  // The sentence of a rule about a node.
  struct Said {
    Refusal refusal;
    bool is_match;  // the rule's pattern matched
    std::vector<NodeAndOp> nodes;
    int distance = 0;     // of `nodes` from the rule's pattern
    bool changes_values;  // what is between `nodes`
    std::string op;       // of the refused node
    size_t rewrites = 0;  // before it
  };
  struct Candidate;

  // Distinguishes the node f/x of the main graph from the node x of the function f.
  static std::string Key(llvm::StringRef function, llvm::StringRef node) {
    return (function + "\n" + node).str();
  }
  void Hear(const Refusal& refusal, bool is_match);
  void Scan(const Graph& graph, llvm::StringRef function);
  void Ask(const Node& node, llvm::StringRef function);
  void AskAboutInlined(const Rewrite& rewrite);
  void AskAboutMade(const Rewrite& rewrite);
  void Look(Asked* asked, llvm::StringRef pass);
  void Follow(Asked* asked, const Rewrite& rewrite);
  void NoteBroken(Asked* asked, const Rewrite& rewrite);
  Node Successor(const Asked& asked, const Rewrite& rewrite) const;
  std::optional<Seen> Closest(const Sought& sought, const Node& node) const;
  void Watch(llvm::StringRef function, llvm::StringRef node, size_t asked);

  bool IsAskedRule(llvm::StringRef pass, llvm::StringRef rule) const;
  bool IsSelected(const PassRegistry::Entry& pass, const Rule& rule,
                  const OptimizeOptions& options) const;
  void MakeIndex();
  bool StillHolds(const Said& said, const Asked& asked, const Module& module) const;
  const Sought* FindSought(llvm::StringRef pass, llvm::StringRef rule) const;
  static std::vector<Candidate> Ranked(std::vector<Candidate> found);
  std::vector<CloseRule> ClosestTo(const Asked& asked, const Module& module, const LineTable& lines,
                                   bool all) const;
  void AddSaid(const Asked& asked, const Module& module, std::vector<Candidate>* found) const;
  void AddPatterns(const Asked& asked, std::vector<Candidate>* found) const;
  std::vector<std::string> NamesAndScopes(const Module& module) const;
  const Said* SaidBefore(size_t rewrite, const Sought& sought, const Asked& asked) const;
  bool AddsToFusion(const Asked& asked, const Seen& seen) const;
  std::string WhyItStays(const Asked& asked, llvm::ArrayRef<NodeAndOp> nodes) const;

  const NodeSelection selection_;
  LayerTable layers_;
  const std::string asked_rule_;
  const PassRegistry* registry_ = nullptr;
  std::vector<std::string> without_;
  int limit_ = -1;
  std::vector<Sought> sought_;
  std::vector<Asked> asked_;
  std::map<std::string, std::set<size_t>> watched_;  // by Key(): asked nodes near that node
  std::set<std::string> scanned_, optimized_;        // functions; "": the main graph
  std::vector<Rewrite> rewrites_;
  std::map<std::string, Said> said_;
  // For the answers, by Key(): what was said about a node; by rule and Key(): the last rewrite of
  // the rule at the node, as an index in rewrites_.
  std::map<std::string, std::vector<const Said*>> said_about_;
  std::map<std::string, size_t> last_rewrite_;
  std::vector<std::string> names_;  // of nodes that were inlined, for suggestions
  const Graph* graph_ = nullptr;    // of the current stage
  std::string function_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_NODE_QUESTION_H_
