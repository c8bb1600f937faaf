// `grapnel diff A B`: what differs between two graphs.
#include "lib/diff/diff.h"

#include "lib/support/text.h"
#include "llvm/Support/JSON.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string a, b;
  std::vector<std::string> ignored, only;
  bool all = false;
};

class Printer {
 public:
  Printer(llvm::raw_ostream& os, bool color, bool all) : os_(os), color_(color), all_(all) {}

  void Nodes(const char* sign, const char* paint, llvm::ArrayRef<NodeEntry> nodes) {
    size_t shown = all_ ? nodes.size() : std::min<size_t>(nodes.size(), 40);
    for (size_t i = 0; i < shown; ++i)
      Line(paint, std::string(sign) + " " + nodes[i].name + " (" + nodes[i].op + ")");
    if (shown < nodes.size())
      os_ << sign << " ... and " << WithCommas(nodes.size() - shown) << " more (--all)\n";
  }

  void Changed(llvm::ArrayRef<MatchedPair> pairs) {
    size_t shown = 0, hidden = 0;
    for (const MatchedPair& pair : pairs) {
      if (pair.changes.empty()) continue;
      if (!all_ && shown == 40) {
        ++hidden;
        continue;
      }
      ++shown;
      Line("\033[33m", "~ " + pair.a + " (" + pair.op + ")");
      for (const Change& change : pair.changes) {
        os_ << "    " << change.what << ": " << (change.before.empty() ? "(none)" : change.before)
            << " -> " << (change.after.empty() ? "(none)" : change.after) << "\n";
      }
    }
    if (hidden) os_ << "~ ... and " << WithCommas(hidden) << " more (--all)\n";
  }

 private:
  void Line(const char* paint, const std::string& text) {
    os_ << (color_ ? paint : "") << text << (color_ ? "\033[0m" : "") << "\n";
  }
  llvm::raw_ostream& os_;
  bool color_, all_;
};

void PrintJson(const Diff& diff, llvm::raw_ostream& os) {
  llvm::json::OStream json(os, 1);
  auto nodes = [&](const char* key, llvm::ArrayRef<NodeEntry> list) {
    json.attributeArray(key, [&] {
      for (const NodeEntry& node : list) json.value(llvm::json::fixUTF8(node.name));
    });
  };
  json.object([&] {
    json.attribute("same", diff.Same());
    json.attributeArray("matched", [&] {
      for (const MatchedPair& pair : diff.matched) {
        json.object([&] {
          json.attribute("a", llvm::json::fixUTF8(pair.a));
          json.attribute("b", llvm::json::fixUTF8(pair.b));
          json.attributeArray("changed", [&] {
            for (const Change& change : pair.changes) {
              json.object([&] {
                json.attribute("what", llvm::json::fixUTF8(change.what));
                json.attribute("before", llvm::json::fixUTF8(change.before));
                json.attribute("after", llvm::json::fixUTF8(change.after));
              });
            }
          });
        });
      }
    });
    nodes("removed", diff.removed);
    nodes("added", diff.added);
  });
  os << "\n";
}

// Keeps what concerns nodes that fit one of the globs.
void Restrict(Diff* diff, llvm::ArrayRef<std::string> only) {
  auto unwanted = [&](const std::string& name) {
    return llvm::none_of(only, [&](const std::string& glob) { return GlobMatch(glob, name); });
  };
  llvm::erase_if(diff->matched, [&](const MatchedPair& pair) { return unwanted(pair.a); });
  llvm::erase_if(diff->removed, [&](const NodeEntry& node) { return unwanted(node.name); });
  llvm::erase_if(diff->added, [&](const NodeEntry& node) { return unwanted(node.name); });
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.a == "-" && flags.b == "-")
    return MakeError("only one of the two graphs can come from standard input");
  ASSIGN_OR_RETURN(InputGraph a, OpenInput(flags.a));
  ASSIGN_OR_RETURN(InputGraph b, OpenInput(flags.b));
  MessageSink sink = invocation.sink();
  for (const InputGraph* input : {&a, &b}) {
    for (const std::string& line : ProblemLines(*input)) sink(Severity::kWarning, line);
  }
  Diff diff = DiffByName(a.module(), b.module(), flags.ignored);
  if (!flags.only.empty()) Restrict(&diff, flags.only);
  int code = diff.Same() ? kExitOk : kExitNo;
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    PrintJson(diff, os);
    return code;
  }
  size_t changed =
      llvm::count_if(diff.matched, [](const MatchedPair& pair) { return !pair.changes.empty(); });
  if (!invocation.flags.quiet) {
    Printer printer(os, invocation.UseColor(), flags.all);
    printer.Nodes("-", "\033[31m", diff.removed);
    printer.Nodes("+", "\033[32m", diff.added);
    printer.Changed(diff.matched);
  }
  if (diff.Same()) {
    os << "the same: " << Plural(diff.matched.size(), "node") << "\n";
  } else {
    os << WithCommas(diff.removed.size()) << " removed, " << WithCommas(diff.added.size())
       << " added, " << WithCommas(changed) << " changed, "
       << WithCommas(diff.matched.size() - changed) << " the same\n";
  }
  return code;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("A", flags->a, "a graph").Required();
  line.Option("B", flags->b, "the graph to compare it with").Required();
  line.Option("--ignore", flags->ignored, "attributes that do not count")
      .Separator(',')
      .ShownAs("ATTR,...");
  line.Option("--only", flags->only, "only nodes whose names fit")
      .Separator(',')
      .ShownAs("GLOB,...");
  line.Flag("--all", flags->all, "no list is cut short");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("diff", "says what differs between two graphs, node by node",
                "diff before.pb after.pb", SetUp);

}  // namespace
}  // namespace grapnel
