#include "lib/diff/fates_json.h"

#include "lib/diff/fates.h"

namespace grapnel {
namespace {

class FatesJsonWriter {
 public:
  explicit FatesJsonWriter(llvm::json::OStream& json) : json_(json) {}

  void Write(const Diff& diff) {
    json_.attributeArray("fates", [&] {
      for (size_t i = 0; i < diff.fates.size(); ++i)
        json_.object([&] { OneFate(diff.removed[i], diff.fates[i]); });
    });
    Array("opened", diff.opened, [&](const OpenedCall& call) {
      Text("call", call.call);
      Text("function", call.function);
      Array("nodes", call.nodes, [&](const auto& node) {
        Text("node", node.first);
        Text("copy", node.second);
      });
    });
    Array("counted", diff.counted, [&](const CountedChange& counted) {
      Text("what", counted.what);
      json_.attribute("nodes", static_cast<int64_t>(counted.nodes.size()));
    });
  }

 private:
  void Text(const char* key, llvm::StringRef text) {
    json_.attribute(key, llvm::json::fixUTF8(text));
  }
  template <typename List, typename Write>
  void Array(const char* key, const List& list, Write write) {
    json_.attributeArray(key, [&] {
      for (const auto& one : list) json_.object([&] { write(one); });
    });
  }

  void OneFate(const NodeEntry& node, const NodeOutcome& fate) {
    Text("node", node.name);
    Text("fate", OutcomeWord(fate.kind));
    if (!fate.into.empty()) Text("into", fate.into);
  }

  llvm::json::OStream& json_;
};

}  // namespace

void WriteFatesJson(const Diff& diff, llvm::json::OStream& json) {
  FatesJsonWriter(json).Write(diff);
}

}  // namespace grapnel
