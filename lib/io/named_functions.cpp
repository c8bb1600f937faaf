#include "lib/io/named_functions.h"

#include <algorithm>

#include "lib/io/signature.h"
#include "lib/ir/wire_map.h"

namespace grapnel {

std::vector<std::string> FunctionsNamedOutside(const GraphInFile& graph) {
  std::vector<std::string> names;
  for (const Signature& signature : graph.signatures) {
    std::vector<std::string> calls = BodyOf(graph, signature).calls;
    if (!calls.empty()) names.push_back(calls.front());
  }
  WireReader reader(graph.object_graph);  // of SavedObjectGraph, field 2: concrete_functions
  while (reader.Next()) {
    if (reader.Is(2, WireType::kBytes)) names.push_back(ReadMapEntry(reader.bytes()).first.str());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

FunctionLibrary LibraryOf(const GraphInFile& graph) {
  return ReadFunctionLibrary(*graph.module, FunctionsNamedOutside(graph));
}

}  // namespace grapnel
