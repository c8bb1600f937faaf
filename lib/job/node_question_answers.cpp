// Chooses, for the nodes of a question, the rules that came closest to them.
#include <algorithm>
#include <tuple>

#include "lib/ir/find.h"
#include "lib/job/node_question.h"
#include "lib/pass/near_misses.h"
#include "lib/support/sentence.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The most rules that an answer has, and those of them of which an op is missing.
constexpr size_t kMostShown = 3, kMostFarShown = 1;
// The largest distance between a fusion and a larger one that is named beside it.
constexpr int kNearFusion = 3;

// Adds the texts in quotes, which are names in a reason.
void AddQuoted(llvm::StringRef reason, std::set<std::string>* names) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  reason.split(parts, '\'');
  for (size_t i = 1; i < parts.size(); i += 2) names->insert(parts[i].str());
}

std::string RuleKey(const std::string& pass, const std::string& rule) {
  return pass + "/" + rule + "\n";
}

bool HasName(llvm::ArrayRef<NodeAndOp> nodes, llvm::StringRef name) {
  return llvm::any_of(nodes, [&](const NodeAndOp& node) { return node.node == name; });
}

bool AreIn(llvm::ArrayRef<NodeAndOp> some, llvm::ArrayRef<NodeAndOp> all) {
  return llvm::all_of(some, [&](const NodeAndOp& one) { return HasName(all, one.node); });
}

// The names as the graph has them, with the function before them.
std::vector<NodeAndOp> NamedInFunction(std::vector<NodeAndOp> nodes, const std::string& function) {
  for (NodeAndOp& node : nodes) {
    if (!function.empty()) node.node = function + "/" + node.node;
  }
  return nodes;
}

// True if the fusion of the node has all of these nodes.
bool Covers(llvm::StringRef node, const NodeChange& fusion, llvm::ArrayRef<NodeAndOp> nodes) {
  return llvm::all_of(nodes, [&](const NodeAndOp& one) {
    return one.node == node || one.node == fusion.into.node || HasName(fusion.with, one.node);
  });
}

}  // namespace

// A rule for an answer, with what decides its place there.
struct NodeQuestion::Candidate {
  bool is_match = true;     // the rule's pattern was there
  bool is_distant = false;  // a rule of arithmetic, and an op that changes values is in between
  int distance = 0;
  int place = -1;  // of the rule among those with a pattern; -1: without a pattern
  CloseRule rule;
  std::vector<NodeAndOp> core;  // the nodes of the smallest rule that has this reason

  // Fills in how near the rule came. `has_ops`: the ops of its pattern were there.
  void SetNearness(bool has_ops) {
    if (!has_ops || is_distant)
      rule.nearness = CloseRule::kFar;
    else if (rule.nodes.size() > 1)
      rule.nearness = is_match ? CloseRule::kRefused : CloseRule::kNear;
    else
      rule.nearness = rule.remedy.empty() ? CloseRule::kNoRemedy : CloseRule::kOneOp;
    // If two patterns are equally near, users mean the larger one.
    rule.gap = 2 * distance - static_cast<int>(rule.nodes.size());
  }
  // True if the condition that failed is also one of `larger`, whose nodes include these.
  bool PreventsAlso(const Candidate& larger) const {
    return rule.nearness == CloseRule::kRefused && larger.rule.nearness == CloseRule::kRefused &&
           rule.pass == larger.rule.pass && rule.came_first.empty() &&
           larger.rule.came_first.empty() && core.size() < larger.core.size() &&
           AreIn(core, larger.core);
  }
  auto Order() const { return std::make_tuple(rule.nearness, !is_match, rule.gap, -place); }
};

void NodeQuestion::MakeIndex() {
  said_about_.clear();
  last_rewrite_.clear();
  for (const auto& [key, said] : said_) {
    std::set<std::string> names = {said.refusal.node};
    for (const NodeAndOp& node : said.nodes) names.insert(node.node);
    if (said.is_match) AddQuoted(said.refusal.reason, &names);
    for (const std::string& name : names)
      said_about_[Key(said.refusal.function, name)].push_back(&said);
  }
  for (size_t i = 0; i < rewrites_.size(); ++i) {
    const Rewrite& rewrite = rewrites_[i];
    last_rewrite_[RuleKey(rewrite.pass, rewrite.rule) + Key(rewrite.function, rewrite.node)] = i;
  }
}

// False if the rule has rewritten the node since, and, for an asked node that was fused or removed,
// also if the rule's pattern was not there or the refused node is not as it was.
bool NodeQuestion::StillHolds(const Said& said, const Asked& asked, const Module& module) const {
  const Refusal& refusal = said.refusal;
  auto last =
      last_rewrite_.find(RuleKey(refusal.pass, refusal.rule) + Key(refusal.function, refusal.node));
  if (last != last_rewrite_.end() && last->second >= said.rewrites) return false;
  const auto& changes = asked.answer.changes;
  if (changes.empty() || changes.back().kind == NodeChange::kRewritten) return true;
  if (!said.is_match) return false;
  const Function* function = asked.function.empty() ? nullptr : module.FindFunction(asked.function);
  if (!asked.function.empty() && !function) return false;
  Node node = (function ? function->body : module.main).Find(said.refusal.node);
  return node && node.op() == said.op;
}

void NodeQuestion::AddSaid(const Asked& asked, const Module& module,
                           std::vector<Candidate>* found) const {
  std::vector<const Said*> about;
  for (const std::string& name : {asked.name, asked.now.node}) {
    auto there = said_about_.find(Key(asked.function, name));
    if (there == said_about_.end()) continue;
    for (const Said* said : there->second)
      if (!llvm::is_contained(about, said)) about.push_back(said);
  }
  for (const Said* one : about) {
    const Said& said = *one;
    if (!StillHolds(said, asked, module)) continue;
    const Sought* sought = FindSought(said.refusal.pass, said.refusal.rule);
    // A rule whose ops are not there may say anything of the node.
    if (!said.is_match && sought && said.distance > kFoundOps) continue;
    Candidate candidate;
    candidate.is_match = said.is_match;
    candidate.place = sought ? sought->place : -1;
    if (sought && !said.is_match) {
      candidate.distance = said.distance;
      candidate.is_distant = said.changes_values && IsArithmetic(said.refusal.pass);
    }
    candidate.rule.pass = said.refusal.pass;
    candidate.rule.rule = said.refusal.rule;
    candidate.rule.nodes = said.nodes;
    candidate.rule.reason = said.refusal.reason;
    candidate.rule.remedy = said.refusal.remedy;
    candidate.SetNearness(/*has_ops=*/true);
    found->push_back(std::move(candidate));
  }
}

void NodeQuestion::AddPatterns(const Asked& asked, std::vector<Candidate>* found) const {
  const auto& changes = asked.answer.changes;
  const bool is_fused = !changes.empty() && changes.back().kind == NodeChange::kFused;
  if (!changes.empty() && changes.back().kind == NodeChange::kRemoved) return;
  for (const Sought& sought : sought_) {
    const std::string pass = sought.pass->info.name, rule = sought.rule->name;
    auto said = llvm::find_if(*found, [&](const Candidate& other) {
      return other.rule.pass == pass && other.rule.rule == rule;
    });
    bool is_said = said != found->end() && (said->is_match || said->rule.nodes.size() > 1);
    auto first = asked.first.find(sought.place), last = asked.last.find(sought.place);
    if (is_said || (first == asked.first.end() && last == asked.last.end())) continue;
    bool is_left_out =
        llvm::is_contained(without_, pass) || llvm::is_contained(without_, pass + "/" + rule);
    auto broken = asked.broken.find(sought.place);
    bool is_broken = broken != asked.broken.end() && first != asked.first.end();
    // A fused node is also told which rules would have fused it with others.
    if (is_fused && (!is_broken || Covers(asked.name, changes.back(), first->second.nodes)) &&
        (last == asked.last.end() || !AddsToFusion(asked, last->second)))
      continue;
    Candidate candidate;
    candidate.place = sought.place;
    candidate.rule.pass = pass;
    candidate.rule.rule = rule;
    auto take = [&](const Seen& seen) {
      candidate.distance = seen.distance;
      candidate.rule.nodes = seen.nodes;
      candidate.rule.reason = seen.reason;
      candidate.rule.remedy = seen.remedy;
      candidate.rule.between = seen.between;
      candidate.is_distant = seen.changes_values && IsArithmetic(pass);
    };
    if (is_left_out) {
      const Seen& seen = first == asked.first.end() ? last->second : first->second;
      if (seen.distance > 0) continue;
      take(seen);
      candidate.rule.reason = "it was left out, with --without";
      candidate.rule.remedy = "run it";
    } else if (is_broken) {
      const Rewrite& rewrite = rewrites_[broken->second];
      if (rewrite.pass == pass && rewrite.rule == rule) continue;
      take(first->second);
      if (const Said* before = SaidBefore(broken->second, sought, asked)) {
        candidate.rule.reason = before->refusal.reason;
        candidate.rule.remedy = before->refusal.remedy;
      } else {
        std::string by = rewrite.pass + "/" + rewrite.rule;
        candidate.rule.came_first = by;
        candidate.rule.reason =
            Sentence("{0} came first: rewrite {1}, at '{2}', changed the pattern", by,
                     rewrite.number, llvm::StringRef(rewrite.node));
        candidate.rule.remedy = Sentence("leave that rule out, with --without {0}", by);
      }
    } else if (last == asked.last.end()) {
      continue;  // the pass did not run
    } else if (last->second.distance == 0) {
      take(last->second);
      candidate.is_match = false;
      const char* refuses = *sought.rule->refuses ? sought.rule->refuses : sought.rule->help;
      bool is_over = limit_ >= 0 && rewrites_.size() >= static_cast<size_t>(limit_);
      candidate.rule.reason =
          is_over ? "--limit was used up before"
                  : Sentence("its ops are there, but a condition of the rule fails: {0}", refuses);
    } else {
      take(last->second);
      candidate.is_match = false;
      if (std::string why = WhyItStays(asked, candidate.rule.between); !why.empty())
        candidate.rule.reason += "; " + why;
    }
    candidate.SetNearness(/*has_ops=*/candidate.distance <= kFoundOps);
    if (said == found->end())
      found->push_back(std::move(candidate));
    else if (candidate.rule.nearness < said->rule.nearness)
      *said = std::move(candidate);
  }
}

// Returns what the rule said of the node before this rewrite; null: nothing.
const NodeQuestion::Said* NodeQuestion::SaidBefore(size_t rewrite, const Sought& sought,
                                                   const Asked& asked) const {
  auto there = said_about_.find(Key(asked.function, asked.name));
  if (there == said_about_.end()) return nullptr;
  for (const Said* said : there->second) {
    if (said->refusal.pass == sought.pass->info.name && said->refusal.rule == sought.rule->name &&
        said->nodes.size() > 1 && said->rewrites <= rewrite)
      return said;
  }
  return nullptr;
}

// True if the match has the nodes that were fused with the node, and others near them.
bool NodeQuestion::AddsToFusion(const Asked& asked, const Seen& seen) const {
  const NodeChange& fusion = asked.answer.changes.back();
  return seen.distance > 0 && seen.distance <= kNearFusion && HasName(seen.nodes, asked.name) &&
         !Covers(asked.name, fusion, seen.nodes) &&
         llvm::all_of(fusion.with,
                      [&](const NodeAndOp& other) { return HasName(seen.nodes, other.node); });
}

// Returns why a rule that would remove one of the nodes refuses to, or "".
std::string NodeQuestion::WhyItStays(const Asked& asked, llvm::ArrayRef<NodeAndOp> nodes) const {
  for (const NodeAndOp& node : nodes) {
    auto there = said_about_.find(Key(asked.function, node.node));
    if (there == said_about_.end()) continue;
    for (const Said* said : there->second) {
      const Refusal& refusal = said->refusal;
      if (said->is_match && refusal.node == node.node)
        return Sentence("'{0}' stays: {1}/{2}: {3}", llvm::StringRef(node.node), refusal.pass,
                        refusal.rule, refusal.reason);
    }
  }
  return "";
}

// Returns one candidate for each reason that a pass has, the nearest first.
std::vector<NodeQuestion::Candidate> NodeQuestion::Ranked(std::vector<Candidate> found) {
  llvm::stable_sort(found,
                    [](const Candidate& a, const Candidate& b) { return a.Order() < b.Order(); });
  std::vector<Candidate> ranked;
  for (Candidate& candidate : found) {
    const CloseRule& rule = candidate.rule;
    auto same = llvm::find_if(ranked, [&](const Candidate& other) {
      return other.rule.pass == rule.pass && other.rule.reason == rule.reason;
    });
    if (same == ranked.end()) {
      candidate.core = rule.nodes;
      ranked.push_back(std::move(candidate));
      continue;
    }
    if (rule.nodes.size() < same->core.size()) same->core = rule.nodes;
    if (rule.rule != same->rule.rule && !llvm::is_contained(same->rule.also, rule.rule))
      same->rule.also.push_back(rule.rule);
  }
  // A condition that prevents a fusion of a part also prevents one of the whole.
  for (size_t i = 1; i < ranked.size(); ++i) {
    size_t place = i;
    for (size_t k = i; k-- > 0;)
      if (ranked[i].PreventsAlso(ranked[k])) place = k;
    std::rotate(ranked.begin() + place, ranked.begin() + i, ranked.begin() + i + 1);
  }
  return ranked;
}

std::vector<CloseRule> NodeQuestion::ClosestTo(const Asked& asked, const Module& module,
                                               const LineTable& lines, bool all) const {
  std::vector<Candidate> found;
  AddSaid(asked, module, &found);
  AddPatterns(asked, &found);
  std::vector<CloseRule> closest;
  size_t far = 0;
  const auto& changes = asked.answer.changes;
  const bool is_fused = !changes.empty() && changes.back().kind == NodeChange::kFused;
  for (Candidate& candidate : Ranked(std::move(found))) {
    CloseRule& rule = candidate.rule;
    bool is_far = rule.nearness == CloseRule::kFar;
    bool is_small =
        (rule.nearness == CloseRule::kNear || !rule.came_first.empty()) &&
        llvm::any_of(closest, [&](const auto& other) { return AreIn(rule.nodes, other.nodes); });
    if (!all && (closest.size() >= kMostShown || is_small ||
                 (is_far && (far >= kMostFarShown || closest.size() > far)) ||
                 (rule.nearness == CloseRule::kNoRemedy && (is_fused || !closest.empty()))))
      continue;
    far += is_far;
    const PassRegistry::Entry* pass = registry_->Find(rule.pass);
    for (const PassStep& step : pass ? registry_->ReportedBy(*pass) : std::vector<PassStep>()) {
      if (rule.rule == step.name) rule.help = step.help;
    }
    if (!rule.nodes.empty()) {
      auto line = lines.LineOf(lines.Find(asked.function, rule.nodes.back().node));
      if (line) rule.made_at = FrameText(*line);
    }
    closest.push_back(std::move(rule));
  }
  for (CloseRule& rule : closest) {
    rule.nodes = NamedInFunction(std::move(rule.nodes), asked.function);
    rule.between = NamedInFunction(std::move(rule.between), asked.function);
  }
  return closest;
}

// The names that a user may have meant: those of nodes, scopes and layers.
std::vector<std::string> NodeQuestion::NamesAndScopes(const Module& module) const {
  std::set<std::string> names;
  auto take = [&](llvm::StringRef name) {
    while (names.insert(name.str()).second && name.contains('/')) name = name.rsplit('/').first;
  };
  VisitNodeNames(module, take);
  for (const std::string& name : names_) take(name);
  for (size_t i = 0; i < layers_.layers().size(); ++i)
    names.insert(layers_.PathOf(static_cast<int>(i)));
  return std::vector<std::string>(names.begin(), names.end());
}

Expected<std::vector<NodeAnswer>> NodeQuestion::Answers(const Module& module,
                                                        const LineTable& lines, bool all) {
  MakeIndex();
  if (asked_.empty() &&
      llvm::StringRef(selection_.text()).find_first_of("*?[") != llvm::StringRef::npos)
    return MakeError("no node matches the pattern '{0}'", selection_.text());
  if (asked_.empty()) return NotFound("node", selection_.text(), NamesAndScopes(module));
  // The nodes of a function that was inlined everywhere are asked about where they are now.
  bool any_optimized = llvm::any_of(
      asked_, [&](const Asked& asked) { return optimized_.count(asked.function) != 0; });
  std::vector<NodeAnswer> answers;
  for (const Asked& asked : asked_) {
    bool is_optimized = optimized_.count(asked.function) != 0;
    if (!is_optimized && any_optimized) continue;
    NodeAnswer answer = asked.answer;
    answer.is_optimized = is_optimized;
    if (auto line = lines.LineOf(lines.Find(asked.function, asked.name)))
      answer.made_at = FrameText(*line);
    for (NodeChange& change : answer.changes) {
      if (!change.into.node.empty())
        change.into = NamedInFunction({change.into}, asked.function).front();
      change.with = NamedInFunction(std::move(change.with), asked.function);
    }
    answer.closest = ClosestTo(asked, module, lines, all);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace grapnel
