#include "lib/diff/diff_json.h"

#include "lib/diff/fates_json.h"
#include "lib/diff/renames.h"
#include "lib/support/json.h"

namespace grapnel {
namespace {

class DiffJsonWriter {
 public:
  explicit DiffJsonWriter(llvm::json::OStream& json) : json_(json) {}

  void Write(const Diff& diff, const DiffStatistics& statistics,
             llvm::ArrayRef<PythonFunctionChanges> functions,
             llvm::ArrayRef<SignatureDiff> signatures, const ValueReport* values) {
    bool same_values = !values || values->different.empty();
    json_.attribute("same", diff.Same() && SameInterface(signatures) && same_values);
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
    WriteFatesJson(diff, json_);
    json_.attributeArray("functions", [&] {
      for (const FunctionEntry& function : diff.functions) {
        json_.object([&] {
          if (!function.a.empty()) Text("a", function.a);
          if (!function.b.empty()) Text("b", function.b);
          Changes(function.changes);
        });
      }
    });
    json_.attributeArray("python_functions", [&] {
      for (const PythonFunctionChanges& function : functions)
        json_.object([&] { PythonFunction(function); });
    });
    json_.attributeArray("renames", [&] {
      for (const Rename& one : RenamesOf(diff)) {
        json_.object([&] {
          Text("a", one.a);
          Text("b", one.b);
          Number("nodes", one.nodes);
        });
      }
    });
    json_.attributeObject("statistics", [&] {
      Side("a", statistics.a);
      Side("b", statistics.b);
    });
    if (!signatures.empty()) {
      json_.attributeArray("signatures", [&] {
        for (const SignatureDiff& one : signatures) json_.object([&] { OneSignature(one); });
      });
    }
    if (values) json_.attributeObject("values", [&] { Values(*values); });
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

  void Number(const char* key, size_t number) {
    json_.attribute(key, static_cast<int64_t>(number));
  }

  void PythonFunction(const PythonFunctionChanges& function) {
    Text("name", function.name);
    json_.attribute("role", RoleName(function.role));
    Counts(function.counts);
    json_.attributeArray("functions", [&] {
      for (const FunctionChanges& one : function.functions) {
        json_.object([&] {
          if (!one.a.empty()) Text("a", one.a);
          if (!one.b.empty()) Text("b", one.b);
          json_.attribute("role", RoleName(one.role));
          Counts(one.counts);
        });
      }
    });
  }

  void Counts(const ChangeCounts& counts) {
    Number("removed", counts.removed);
    Number("added", counts.added);
    Number("changed", counts.changed);
    Number("replaced", counts.replaced);
    Number("same", counts.same);
  }

  void OneSignature(const SignatureDiff& one) {
    Text("name", one.name);
    json_.attribute("in_a", one.in_a);
    json_.attribute("in_b", one.in_b);
    Changes(one.changes);
    Number("nodes_a", one.nodes.nodes_a);
    Number("nodes_b", one.nodes.nodes_b);
    Number("removed", one.nodes.removed);
    Number("added", one.nodes.added);
    Number("changed", one.nodes.changed);
    Number("replaced", one.nodes.replaced);
  }

  void Values(const ValueReport& report) {
    if (std::string why = WhyNotCompared(report); !why.empty()) Text("not_compared", why);
    Number("compared", report.compared);
    Number("same", report.same);
    json_.attributeArray("different", [&] {
      for (const ValueDiff& one : report.different) json_.object([&] { OneValue(one); });
    });
  }

  void OneValue(const ValueDiff& one) {
    if (!one.a.empty()) Text("a", one.a);
    if (!one.b.empty()) Text("b", one.b);
    Text("type", one.type);
    if (!one.problem.empty()) {
      Text("problem", one.problem);
      return;
    }
    const ValueDistance& distance = one.distance;
    json_.attribute("elements", distance.elements);
    json_.attribute("differing", distance.differing);
    json_.attribute("largest", NumberOrText(distance.largest));
    json_.attribute("relative", NumberOrText(distance.relative));
    json_.attribute("not_finite_a", distance.not_finite_a);
    json_.attribute("not_finite_b", distance.not_finite_b);
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

  llvm::json::OStream& json_;
};

}  // namespace

void WriteDiffJson(const Diff& diff, const DiffStatistics& statistics,
                   llvm::ArrayRef<PythonFunctionChanges> functions,
                   llvm::ArrayRef<SignatureDiff> signatures, const ValueReport* values,
                   llvm::json::OStream& json) {
  DiffJsonWriter(json).Write(diff, statistics, functions, signatures, values);
}

}  // namespace grapnel
