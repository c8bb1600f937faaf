#include "lib/diff/diff_json.h"

#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

class Writer {
 public:
  explicit Writer(llvm::raw_ostream& os) : json_(os, 1) {}

  void Write(const Diff& diff, const DiffStatistics& statistics) {
    json_.object([&] {
      json_.attribute("same", diff.Same());
      json_.attributeArray("matched", [&] {
        for (const MatchedPair& pair : diff.matched) Pair(pair);
      });
      Names("removed", diff.removed);
      Names("added", diff.added);
      json_.attributeArray("groups", [&] {
        for (const GroupEntry& group : diff.groups) {
          json_.object([&] {
            Names("a", group.a);
            Names("b", group.b);
          });
        }
      });
      json_.attributeArray("functions", [&] {
        for (const FunctionEntry& function : diff.functions) {
          json_.object([&] {
            if (!function.a.empty()) Text("a", function.a);
            if (!function.b.empty()) Text("b", function.b);
            Changes(function.changes);
          });
        }
      });
      json_.attributeObject("statistics", [&] {
        Side("a", statistics.a);
        Side("b", statistics.b);
      });
    });
  }

 private:
  void Text(const char* key, llvm::StringRef text) {
    json_.attribute(key, llvm::json::fixUTF8(text));
  }

  void Names(const char* key, llvm::ArrayRef<NodeEntry> nodes) {
    json_.attributeArray(key, [&] {
      for (const NodeEntry& node : nodes) json_.value(llvm::json::fixUTF8(node.name));
    });
  }

  void Pair(const MatchedPair& pair) {
    json_.object([&] {
      Text("a", pair.a.name);
      Text("b", pair.b.name);
      json_.attribute("changed", !pair.changes.empty());
      Changes(pair.changes);
    });
  }

  void Changes(llvm::ArrayRef<Change> changes) {
    if (changes.empty()) return;
    json_.attributeArray("changes", [&] {
      for (const Change& change : changes) {
        json_.object([&] {
          Text("what", change.what);
          Text("before", change.before);
          Text("after", change.after);
        });
      }
    });
  }

  void Side(const char* key, const GraphStatistics& side) {
    json_.attributeObject(key, [&] {
      json_.attribute("nodes", static_cast<int64_t>(side.nodes));
      json_.attribute("functions", static_cast<int64_t>(side.functions));
      json_.attribute("constant_bytes", static_cast<int64_t>(side.constant_bytes));
      if (side.flops) json_.attribute("flops", *side.flops);
      json_.attributeObject("ops", [&] {
        for (const auto& [op, count] : side.ops)
          json_.attribute(llvm::json::fixUTF8(op), static_cast<int64_t>(count));
      });
    });
  }

  llvm::json::OStream json_;
};

}  // namespace

void WriteDiffJson(const Diff& diff, const DiffStatistics& statistics, llvm::raw_ostream& os) {
  Writer(os).Write(diff, statistics);
  os << "\n";
}

}  // namespace grapnel
