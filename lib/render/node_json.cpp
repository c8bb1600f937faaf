#include "lib/ir/attr.h"
#include "lib/ir/literal.h"
#include "lib/ir/literal_json.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/render/labels.h"
#include "lib/render/page_writers.h"
#include "lib/render/shown_outputs.h"

namespace grapnel {
namespace {

class NodeWriter {
 public:
  NodeWriter(const PageBody& body, const Node& node, llvm::json::OStream& json)
      : page_(body),
        body_(body.scopes),
        node_(node),
        find_(body.find),
        marks_(body.marks),
        clusters_(*body.clusters),
        json_(json),
        info_(DefinitionOf(node)) {}

  void Write() {
    json_.object([&] {
      json_.attribute("id", node_.id());
      json_.attribute("name", Printable(node_.name()));
      json_.attribute("op", Printable(node_.op()));
      if (!node_.device().empty()) json_.attribute("device", Printable(node_.device()));
      json_.attribute("text", Printable(NodeText(node_)));
      if (marks_ && marks_->device_of) json_.attribute("placed", PageDevice(node_, marks_));
      if (std::string cluster = Printable(clusters_.Of(node_)); !cluster.empty())
        json_.attribute("cluster", cluster);
      if (!info_) json_.attribute("custom", true);
      json_.attributeArray("around", [&] {
        for (ScopeId scope : body_.Around(Shown())) json_.value(scope);
      });
      if (Shown() != node_.id()) Folded(body_.graph().node(Shown()));
      if (marks_) Marks();
      if (page_.lines) Stack();
      Value();
      WriteCalls(node_, find_, json_);
      Attributes();
      Inputs();
      Outputs();
    });
  }

 private:
  // The node whose box shows this node: for a folded node, its first reader, or that reader's first
  // reader and so on.
  NodeId Shown() const {
    NodeId id = node_.id();
    for (int hops = 0; hops < 8 && body_.folding().uses[id] != NodeUse::kShown; ++hops) {
      if (body_.folding().waits[id] != kNoNode) return body_.folding().waits[id];
      llvm::ArrayRef<Use> uses = body_.graph().node(id).uses();
      if (uses.empty()) break;
      id = uses[0].node;
    }
    return id;
  }

  void Folded(const Node& reader) {
    json_.attribute("folded", true);
    json_.attributeObject("reader", [&] {
      json_.attribute("id", reader.id());
      json_.attribute("name", Printable(reader.name()));
      json_.attribute("op", Printable(reader.op()));
    });
  }

  void Marks() {
    int kind = marks_->kind_of(node_);
    if (kind >= 0) json_.attribute("mark", kind);
    if (!marks_->details) return;
    json_.attributeArray("details", [&] {
      for (const PageMarks::Detail& detail : marks_->details(node_)) {
        json_.object([&] {
          json_.attribute("what", PrintableStart(detail.what));
          if (!detail.card.empty()) json_.attribute("card", detail.card);
          if (!detail.text.empty()) {
            WriteLines(detail.text);
            return;
          }
          json_.attribute("before", PrintableStart(detail.before));
          json_.attribute("after", PrintableStart(detail.after));
        });
      }
    });
  }

  void WriteLines(llvm::StringRef text) {
    llvm::SmallVector<llvm::StringRef, 16> lines;
    text.rtrim('\n').split(lines, '\n');
    json_.attributeArray("lines", [&] {
      for (llvm::StringRef line : lines) json_.value(Printable(line));
    });
  }

  // Writes the stack with the innermost frame first, because users look for that frame.
  void Stack() {
    LineTable::Stack stack = page_.lines->StackOf(node_);
    if (stack.empty()) return;
    json_.attributeArray("stack", [&] {
      for (const SourceFrame& frame : llvm::reverse(stack)) {
        json_.object([&] {
          json_.attribute("file", Printable(frame.file));
          json_.attribute("line", frame.line);
          if (!frame.function.empty()) json_.attribute("function", Printable(frame.function));
          bool framework = IsFrameworkFile(frame.file);
          if (framework) json_.attribute("framework", true);
          if (!framework) SourceOf(frame);
        });
      }
    });
  }

  void SourceOf(const SourceFrame& frame) {
    std::optional<PageLines::Text> text;
    if (page_.page_lines && page_.page_lines->text) text = page_.page_lines->text(frame);
    if (!text && !frame.code.empty()) text = PageLines::Text{frame.line, {frame.code.str()}};
    if (!text) return;
    json_.attribute("first_line", text->first);
    json_.attributeArray("lines", [&] {
      for (const std::string& line : text->lines) json_.value(Printable(line));
    });
  }

  std::string TypeText(Port port) const {
    return TensorText(body_.shapes().TypeOf(port), body_.shapes().OfPort(port));
  }

  void Value() {
    if (node_.op() != "Const" && node_.op() != "HostConst") return;
    auto literal = Literal::FromConst(node_);
    if (!literal) return llvm::consumeError(literal.takeError());
    json_.attribute("value", PrintableStart(literal->ToString()));
    constexpr int64_t kSeenAtOnce = 8;
    if (literal->num_elements() > kSeenAtOnce) Statistics(*literal);
  }

  void Statistics(const Literal& literal) {
    std::optional<LiteralStatistics> statistics = StatisticsOf(literal);
    if (!statistics) return;
    json_.attributeBegin("statistics");
    WriteStatisticsJson(*statistics, json_);
    json_.attributeEnd();
  }

  void Attributes() {
    json_.attributeArray("attributes", [&] {
      for (const auto& [key, value] : node_.Attrs()) {
        json_.object([&, &key = key, &value = value] {
          json_.attribute("name", Printable(key));
          json_.attribute("text", PrintableStart(value.ToString()));
          std::vector<llvm::StringRef> functions = value.FuncNames();
          if (functions.empty()) return;
          json_.attributeArray("functions", [&] {
            for (llvm::StringRef name : functions) {
              if (std::optional<size_t> body = find_(name)) json_.value(*body);
            }
          });
        });
      }
    });
  }

  std::string InputName(int slot) const {
    llvm::StringRef name = info_ ? ArgumentOfInput(node_, *info_, slot) : "";
    return name.empty() ? "input " + std::to_string(slot) : Printable(name);
  }

  void Inputs() {
    json_.attributeArray("inputs", [&] {
      for (int slot = 0; slot < node_.num_inputs() + node_.num_controls(); ++slot)
        json_.object([&] { Input(slot); });
    });
  }

  void Input(int slot) {
    Port port = node_.input(slot);
    bool control = slot >= node_.num_inputs();
    if (control) {
      json_.attribute("control", true);
    } else {
      json_.attribute("slot", InputName(slot));
    }
    if (port.node == kNoNode) {
      json_.attribute("missing", Printable(node_.DanglingText(slot)));
      return;
    }
    Node from = body_.graph().node(port.node);
    json_.attribute("id", from.id());
    json_.attribute("name", Printable(from.name()));
    json_.attribute("op", Printable(from.op()));
    if (control) return;
    json_.attribute("port", port.index);
    json_.attribute("type", TypeText(port));
  }

  void Outputs() {
    json_.attributeArray("outputs", [&] {
      int place = 0;
      for (int port : ShownOutputs(node_)) {
        json_.object([&] {
          if (port != place++) json_.attribute("port", port);
          json_.attribute("type", TypeText({node_.id(), port}));
          llvm::StringRef name = info_ ? OutputOfPort(node_, *info_, port).first : "";
          if (!name.empty()) json_.attribute("slot", Printable(name));
          WriteReaders(node_, port, 0, kFirstListed, json_);
        });
      }
    });
    json_.attributeObject("after",
                          [&] { WriteReaders(node_, kControlPort, 0, kFirstListed, json_); });
  }

  const PageBody& page_;
  const BodyScopes& body_;
  Node node_;
  const BodyFinder& find_;
  const PageMarks* marks_;
  const XlaClusters& clusters_;
  llvm::json::OStream& json_;
  const OpInfo* info_;
};

}  // namespace

void WriteReaders(const Node& node, int port, size_t from, size_t limit,
                  llvm::json::OStream& json) {
  llvm::SmallVector<Use, 4> uses = node.UsesOf(port);
  size_t begin = std::min(from, uses.size()), end = begin + std::min(limit, uses.size() - begin);
  json.attribute("count", uses.size());
  json.attributeArray("readers", [&] {
    for (const Use& use : llvm::ArrayRef(uses).slice(begin, end - begin)) {
      Node reader = node.graph().node(use.node);
      json.object([&] {
        json.attribute("id", reader.id());
        json.attribute("name", Printable(reader.name()));
        json.attribute("op", Printable(reader.op()));
      });
    }
  });
  if (end < uses.size()) json.attribute("next", end);
}

void WriteNode(const PageBody& body, const Node& node, llvm::json::OStream& json) {
  NodeWriter(body, node, json).Write();
}

void WriteCalls(const Node& node, const BodyFinder& find, llvm::json::OStream& json) {
  struct Call {
    std::string role, name;
    size_t body;
  };
  std::vector<Call> calls;
  auto add = [&](llvm::StringRef role, llvm::StringRef name) {
    if (std::optional<size_t> body = find(name))
      calls.push_back({Printable(role), Printable(name), *body});
  };
  add("", node.op());
  if (MayCallFunctions(node)) {
    for (const auto& [key, value] : node.Attrs()) {
      for (llvm::StringRef name : value.FuncNames()) add(key, name);
    }
  }
  if (calls.empty()) return;
  json.attributeArray("calls", [&] {
    for (const Call& call : calls) {
      json.object([&] {
        json.attribute("role", call.role);
        json.attribute("name", call.name);
        json.attribute("body", call.body);
      });
    }
  });
}

}  // namespace grapnel
