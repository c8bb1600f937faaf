// Graphs as people write them. A graph without errors must be written exactly and read back
// unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "lib/ir/text.h"
#include "lib/ir/verify.h"
#include "tests/fuzz/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  LooksLikeGraphText(bytes);
  for (const TextGraph& graph : ReadGraphText(*FileBytes::FromString(bytes.str(), "input.gtxt"))) {
    Walk(*graph.module);
    std::string text;
    llvm::raw_string_ostream os(text);
    TextOptions options;
    options.exact = true;
    options.feeds = graph.feeds;
    options.fetches = graph.fetches;
    WriteGraphAsText(*graph.module, options, os);
    auto again = ReadGraphText(*FileBytes::FromString(text, "again.gtxt"));
    // A graph with internal damage (a constant's bytes, a node without an op) has no text that
    // preserves everything.
    bool faultless = !HasErrors(AllProblems(*graph.module));
    if (faultless && (again.size() != 1 || GraphText(*again[0].module) != GraphText(*graph.module)))
      std::abort();
    options.exact = false;
    WriteGraphAsText(*graph.module, options, os);
  }
  return 0;
}
