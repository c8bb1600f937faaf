#include "lib/job/node_answer.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// The most blocks of an answer, and the most rules of a block.
constexpr size_t kMostBlocks = 4, kMostRules = 2;

std::string QuotedWithOp(const NodeAndOp& node) {
  std::string text = "'" + Printable(node.node) + "'";
  return node.op.empty() ? text : text + " (" + Printable(node.op) + ")";
}

std::string ListText(std::vector<std::string> words, size_t most = 8) {
  size_t more = words.size() > most ? words.size() - most : 0;
  words.resize(words.size() - more);
  if (more > 0) words.push_back(std::to_string(more) + " more");
  if (words.size() < 2) return words.empty() ? "" : words[0];
  std::string last = words.back();
  words.pop_back();
  return llvm::join(words, ", ") + " and " + last;
}

std::string ListText(llvm::ArrayRef<NodeAndOp> nodes) {
  std::vector<std::string> words;
  for (const NodeAndOp& node : nodes) words.push_back(QuotedWithOp(node));
  return ListText(std::move(words));
}

// `together`: nodes of which the sentence says this; they are not repeated.
std::string ChangeText(const NodeChange& change, llvm::ArrayRef<const NodeAnswer*> together) {
  std::string by = "by " + change.pass + "/" + change.rule;
  if (change.kind == NodeChange::kRemoved) return "removed " + by;
  std::string into = "'" + Printable(change.into.node) + "' (" + Printable(change.into.op);
  if (!change.fused_ops.empty()) into += ": " + llvm::join(change.fused_ops, ", ");
  into += ")";
  if (change.kind == NodeChange::kRewritten) return "rewritten " + by + ": now " + into;
  std::vector<NodeAndOp> with = change.with;
  llvm::erase_if(with, [&](const NodeAndOp& other) {
    return llvm::any_of(together, [&](const auto* one) { return one->node == other.node; });
  });
  return "fused " + by + (with.empty() ? "" : " with " + ListText(with)) + " into " + into;
}

std::string FateText(const NodeAnswer& answer, llvm::ArrayRef<const NodeAnswer*> together) {
  if (!answer.is_optimized) {
    return "no pass ran on its function: nothing calls it, or TensorFlow leaves it to XLA or "
           "tf.data, or it is smaller than min_graph_nodes";
  }
  std::vector<std::string> texts;
  for (const NodeChange& change : answer.changes) texts.push_back(ChangeText(change, together));
  return texts.empty() ? "unchanged" : llvm::join(texts, "; then ");
}

void WriteRule(const CloseRule& rule, llvm::raw_ostream& os) {
  os << "  " << rule.pass << "/" << rule.rule;
  if (!rule.also.empty()) os << " (and " << llvm::join(rule.also, ", ") << ")";
  os << ": " << rule.reason;
  if (!rule.made_at.empty()) os << ", made at " << rule.made_at;
  os << "\n";
  if (rule.nodes.size() > 1)
    os << "    would rewrite " << ListText(rule.nodes) << ": " << rule.help << "\n";
  if (!rule.remedy.empty()) os << "    to fix: " << rule.remedy << "\n";
}

// True for ops that only supply the values of others.
bool IsHelper(llvm::StringRef op) {
  return op == "Const" || op == "NoOp" || op == "VarHandleOp" || op == "ReadVariableOp" ||
         op == "Identity" || op.starts_with("Placeholder") || op == "VariableV2";
}

std::string CloseRuleKey(const CloseRule& rule) {
  return rule.pass + "/" + rule.rule + "\n" + rule.reason;
}

bool IsConvolutionOrProduct(llvm::StringRef op) {
  return op.contains("Conv") || op.contains("MatMul") || op == "Einsum";
}

// Nodes that have one story: they were fused together, or the same rule came near them.
struct Story {
  // The subjects of stories, the most important first.
  enum Weight {
    kContraction,  // fused, or nearly so
    kNear,
    kFused,
    kFarContraction,
    kOneOp,
    kRewritten,
    kFar,
    kNothing,
  } weight = kNothing;
  std::string key;
  std::vector<const NodeAnswer*> nodes;
  const CloseRule* rule = nullptr;  // the nearest one

  // True if all nodes only supplied values, and passes ran on them.
  bool IsOfHelpers() const {
    return llvm::all_of(
        nodes, [](const NodeAnswer* node) { return IsHelper(node->op) && node->is_optimized; });
  }

  // Fusions come before arithmetic.
  std::tuple<Weight, bool, int, int> Order() const {
    if (!rule) return {weight, false, 0, 0};
    bool is_arithmetic = rule->nearness <= CloseRule::kNear && IsArithmetic(rule->pass);
    return {weight, is_arithmetic, rule->nearness, rule->gap};
  }

  // `wants_all`: also rules that nothing would make fire, and far ones of helpers.
  static Story Of(const NodeAnswer& answer, bool wants_all) {
    Story story;
    story.nodes = {&answer};
    const CloseRule*& rule = story.rule;
    if (!answer.closest.empty()) rule = &answer.closest.front();
    bool is_trivial = rule && (rule->nearness == CloseRule::kNoRemedy ||
                               (rule->nearness > CloseRule::kNear && IsHelper(answer.op)));
    if (is_trivial && !wants_all) rule = nullptr;
    const NodeChange* change = answer.changes.empty() ? nullptr : &answer.changes.back();
    bool is_fused = change && change->kind == NodeChange::kFused;
    bool is_near = rule && rule->nearness <= CloseRule::kNear;
    if (is_near || (rule && !is_fused))
      story.key = CloseRuleKey(*rule);
    else if (is_fused)
      story.key = change->into.node;
    else if (change || !answer.is_optimized)
      story.key = FateText(answer, {});
    if ((is_near || is_fused) && IsConvolutionOrProduct(answer.op))
      story.weight = kContraction;
    else if (is_near)
      story.weight = kNear;
    else if (is_fused)
      story.weight = kFused;
    else if (rule && rule->nearness == CloseRule::kFar)
      story.weight = IsConvolutionOrProduct(answer.op) ? kFarContraction : kFar;
    else if (rule)
      story.weight = kOneOp;
    else if (change || !answer.is_optimized)
      story.weight = kRewritten;
    return story;
  }
};

void WriteNode(const NodeAnswer& answer, llvm::raw_ostream& os) {
  os << Printable(answer.node) << " (" << Printable(answer.op);
  for (const std::string* fact : {&answer.dtype, &answer.device})
    if (!fact->empty()) os << ", " << Printable(*fact);
  os << ")";
  if (!answer.made_at.empty()) os << ", made at " << answer.made_at;
}

// Writes what became of the nodes, those of which the same is true in one line, and the rules that
// came near them.
void WriteStory(const Story& story, bool is_alone, bool all, std::set<std::string>* written,
                llvm::raw_ostream& os) {
  std::vector<std::pair<std::string, std::vector<const NodeAnswer*>>> fates;
  for (const NodeAnswer* node : story.nodes) {
    std::string fate = FateText(*node, story.nodes);
    auto same = llvm::find_if(fates, [&](const auto& other) { return other.first == fate; });
    if (same == fates.end()) same = fates.insert(fates.end(), {fate, {}});
    same->second.push_back(node);
  }
  for (const auto& [fate, nodes] : fates) {
    std::vector<std::string> words;
    for (const NodeAnswer* node : nodes) {
      llvm::raw_string_ostream word(words.emplace_back());
      WriteNode(*node, word);
    }
    os << ListText(std::move(words)) << ": " << fate << "\n";
  }
  std::vector<const CloseRule*> rules;
  for (const NodeAnswer* node : story.nodes) {
    for (const CloseRule& rule : node->closest) {
      bool is_known = llvm::any_of(rules, [&](const CloseRule* other) {
        return other->pass == rule.pass && other->reason == rule.reason;
      });
      is_known |= written->count(CloseRuleKey(rule)) != 0;
      if (!is_known && (rule.nearness != CloseRule::kNoRemedy || is_alone || all))
        rules.push_back(&rule);
    }
  }
  llvm::stable_sort(
      rules, [](const CloseRule* a, const CloseRule* b) { return a->nearness < b->nearness; });
  if (!all && !is_alone && rules.size() > kMostRules) rules.resize(kMostRules);
  for (const CloseRule* rule : rules) {
    written->insert(CloseRuleKey(*rule));
    WriteRule(*rule, os);
  }
}

void WriteStories(llvm::ArrayRef<NodeAnswer> answers, bool all, llvm::raw_ostream& os) {
  const bool is_alone = answers.size() == 1;
  std::vector<Story> stories;
  std::map<std::string, size_t> by_key;
  for (const NodeAnswer& answer : answers) {
    Story story = Story::Of(answer, is_alone || all);
    auto [same, is_new] = by_key.try_emplace(story.key, stories.size());
    if (is_new) {
      stories.push_back(std::move(story));
      continue;
    }
    stories[same->second].nodes.push_back(&answer);
    stories[same->second].weight = std::min(stories[same->second].weight, story.weight);
  }
  llvm::stable_sort(stories, [](const Story& a, const Story& b) { return a.Order() < b.Order(); });
  std::vector<NodeAndOp> unchanged, replaced;
  size_t blocks = 0, left_out = 0;
  std::set<std::string> written;  // rules
  for (const Story& story : stories) {
    // A rule whose pattern lacks an op is shown only if no rule came closer.
    bool is_plain = story.weight == Story::kNothing ||
                    (!all && story.weight == Story::kFar && stories.front().weight < Story::kFar) ||
                    (story.weight == Story::kRewritten && story.IsOfHelpers() && !is_alone) ||
                    written.count(story.key) != 0;
    if (is_plain) {
      for (const NodeAnswer* node : story.nodes)
        (node->changes.empty() ? unchanged : replaced).push_back({node->node, node->op});
    } else if (all || blocks++ < kMostBlocks) {
      WriteStory(story, is_alone, all, &written, os);
    } else {
      left_out += story.nodes.size();
    }
  }
  if (left_out > 0)
    os << Plural(left_out, "node") << " more: see them with passes --why-not --node --all\n";
  if (!replaced.empty()) os << "replaced or removed: " << ListText(replaced) << "\n";
  if (!unchanged.empty())
    os << "unchanged" << (is_alone ? ", and no rule came close: " : ": ") << ListText(unchanged)
       << "\n";
}

const char* WordOf(NodeChange::Kind kind) {
  switch (kind) {
    case NodeChange::kFused:
      return "fused";
    case NodeChange::kRewritten:
      return "rewritten";
    case NodeChange::kRemoved:
      return "removed";
  }
  return "";
}

class Writer {
 public:
  explicit Writer(llvm::json::OStream& json) : json_(json) {}

  void Write(const NodeAnswer& answer) {
    Text("node", answer.node);
    Text("op", answer.op);
    TextIfAny("dtype", answer.dtype);
    TextIfAny("device", answer.device);
    TextIfAny("made_at", answer.made_at);
    json_.attribute("became", !answer.is_optimized     ? "not_optimized"
                              : answer.changes.empty() ? "unchanged"
                                                       : WordOf(answer.changes.back().kind));
    json_.attributeArray("changes", [&] {
      for (const NodeChange& change : answer.changes) json_.object([&] { Write(change); });
    });
    json_.attributeArray("closest", [&] {
      for (const CloseRule& rule : answer.closest) json_.object([&] { Write(rule); });
    });
  }

 private:
  void Text(const char* key, const std::string& text) {
    json_.attribute(key, llvm::json::fixUTF8(text));
  }
  void TextIfAny(const char* key, const std::string& text) {
    if (!text.empty()) Text(key, text);
  }
  void Nodes(const char* key, llvm::ArrayRef<NodeAndOp> nodes) {
    json_.attributeArray(key, [&] {
      for (const NodeAndOp& node : nodes) {
        json_.object([&] {
          Text("node", node.node);
          Text("op", node.op);
        });
      }
    });
  }
  void Texts(const char* key, llvm::ArrayRef<std::string> texts) {
    json_.attributeArray(key, [&] {
      for (const std::string& text : texts) json_.value(llvm::json::fixUTF8(text));
    });
  }

  void Write(const NodeChange& change) {
    json_.attribute("kind", WordOf(change.kind));
    json_.attribute("rewrite", change.rewrite);
    Text("pass", change.pass);
    Text("rule", change.rule);
    TextIfAny("into", change.into.node);
    TextIfAny("op", change.into.op);
    if (!change.fused_ops.empty()) Texts("fused_ops", change.fused_ops);
    Nodes("with", change.with);
  }

  void Write(const CloseRule& rule) {
    Text("pass", rule.pass);
    Text("rule", rule.rule);
    Text("help", rule.help);
    Texts("also", rule.also);
    Nodes("nodes", rule.nodes);
    Text("reason", rule.reason);
    TextIfAny("remedy", rule.remedy);
    Nodes("between", rule.between);
    TextIfAny("came_first", rule.came_first);
    TextIfAny("made_at", rule.made_at);
  }

  llvm::json::OStream& json_;
};

}  // namespace

bool IsArithmetic(llvm::StringRef pass) {
  return pass == "arithmetic_optimizer" || pass == "constant_folding" || pass == "shape_optimizer";
}

ShortNames NamesOf(llvm::ArrayRef<NodeAnswer> answers, std::vector<std::string> known,
                   const Module& after) {
  std::vector<std::string> printed;
  auto add = [&](llvm::ArrayRef<NodeAndOp> nodes) {
    for (const NodeAndOp& node : nodes) printed.push_back(node.node);
  };
  for (const NodeAnswer& answer : answers) {
    printed.push_back(answer.node);
    for (const NodeChange& change : answer.changes) {
      add(change.into);
      add(change.with);
    }
    for (const CloseRule& rule : answer.closest) {
      add(rule.nodes);
      add(rule.between);
    }
  }
  llvm::append_range(known, AllNodeNames(after));
  llvm::append_range(known, printed);
  return ShortNames(std::move(known), printed);
}

void WriteNodeAnswers(llvm::ArrayRef<NodeAnswer> answers, bool all, const ShortNames& names,
                      llvm::raw_ostream& os) {
  if (std::string left_out = names.Note(); !left_out.empty()) os << left_out << "\n";
  std::string text;
  llvm::raw_string_ostream lines(text);
  WriteStories(answers, all, lines);
  os << names.InText(lines.str());
}

void WriteNodeAnswersJson(llvm::ArrayRef<NodeAnswer> answers, llvm::json::OStream& json) {
  Writer writer(json);
  json.attributeArray("nodes", [&] {
    for (const NodeAnswer& answer : answers) json.object([&] { writer.Write(answer); });
  });
}

}  // namespace grapnel
