#include "lib/job/node_answer.h"

#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::string Quoted(const NodeAndOp& node) {
  std::string text = "'" + Printable(node.node) + "'";
  return node.op.empty() ? text : text + " (" + Printable(node.op) + ")";
}

std::string ListText(llvm::ArrayRef<NodeAndOp> nodes, size_t most = 8) {
  std::vector<std::string> words;
  for (const NodeAndOp& node : nodes.take_front(most)) words.push_back(Quoted(node));
  if (nodes.size() > most) words.push_back(std::to_string(nodes.size() - most) + " more");
  if (words.size() < 2) return words.empty() ? "" : words[0];
  std::string last = words.back();
  words.pop_back();
  return llvm::join(words, ", ") + " and " + last;
}

std::string ChangeText(const NodeChange& change) {
  std::string by = "by " + change.pass + "/" + change.rule;
  if (change.kind == NodeChange::kRemoved) return "removed " + by;
  std::string into = "'" + Printable(change.into.node) + "' (" + Printable(change.into.op);
  if (!change.fused_ops.empty()) into += ": " + llvm::join(change.fused_ops, ", ");
  into += ")";
  if (change.kind == NodeChange::kRewritten) return "rewritten " + by + ": now " + into;
  return "fused " + by + " with " + ListText(change.with) + " into " + into;
}

std::string FateText(const NodeAnswer& answer) {
  if (!answer.is_optimized) {
    return "no pass ran on its function: nothing calls it, or TensorFlow leaves it to XLA or "
           "tf.data, "
           "or it is smaller than min_graph_nodes";
  }
  std::vector<std::string> texts;
  for (const NodeChange& change : answer.changes) texts.push_back(ChangeText(change));
  return texts.empty() ? "unchanged" : llvm::join(texts, "; then ");
}

bool IsPlain(const NodeAnswer& answer) {
  return answer.is_optimized && answer.changes.empty() && answer.closest.empty();
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

void WriteNodeAnswers(llvm::ArrayRef<NodeAnswer> answers, const ShortNames& names,
                      llvm::raw_ostream& os) {
  if (std::string left_out = names.Note(); !left_out.empty()) os << left_out << "\n";
  std::vector<NodeAndOp> plain;
  std::string text;
  llvm::raw_string_ostream lines(text);
  for (const NodeAnswer& answer : answers) {
    if (IsPlain(answer)) {
      plain.push_back({answer.node, answer.op});
      continue;
    }
    lines << Printable(answer.node) << " (" << Printable(answer.op);
    for (const std::string* fact : {&answer.dtype, &answer.device})
      if (!fact->empty()) lines << ", " << Printable(*fact);
    lines << ")";
    if (!answer.made_at.empty()) lines << ", made at " << answer.made_at;
    lines << ": " << FateText(answer) << "\n";
    for (const CloseRule& rule : answer.closest) WriteRule(rule, lines);
  }
  if (!plain.empty()) lines << "unchanged, and no rule came close: " << ListText(plain) << "\n";
  os << names.InText(lines.str());
}

void WriteNodeAnswersJson(llvm::ArrayRef<NodeAnswer> answers, llvm::json::OStream& json) {
  Writer writer(json);
  json.attributeArray("nodes", [&] {
    for (const NodeAnswer& answer : answers) json.object([&] { writer.Write(answer); });
  });
}

}  // namespace grapnel
