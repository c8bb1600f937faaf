#include "tests/passes/ledger.h"

#include "gtest/gtest.h"
#include "lib/ir/import.h"
#include "lib/proto/graph.pb.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

std::string Decode(llvm::StringRef text) {
  constexpr llvm::StringRef kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int have = 0;
  for (char c : text.rtrim('=')) {
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    if ((have += 6) < 8) continue;
    have -= 8;
    bytes += static_cast<char>(bits >> have);
  }
  return bytes;
}

std::vector<std::string> Strings(const llvm::json::Object& rewrite, llvm::StringRef key) {
  std::vector<std::string> strings;
  if (const llvm::json::Array* array = rewrite.getArray(key)) {
    for (const llvm::json::Value& value : *array) strings.push_back(value.getAsString()->str());
  }
  return strings;
}

std::map<std::string, std::string> NodeDefsOf(const Graph& graph) {
  std::map<std::string, std::string> defs;
  for (Node node : graph.nodes()) defs[node.name().str()] = ExportNodeDef(node);
  return defs;
}

}  // namespace

NodeDefs NodeDefsOf(const Module& module) {
  NodeDefs all;
  all[""] = NodeDefsOf(module.main);
  for (const auto& function : module.functions)
    all[function->name().str()] = NodeDefsOf(function->body);
  return all;
}

NodeDefs ApplyLedger(const Module& before, llvm::StringRef ledger) {
  NodeDefs all = NodeDefsOf(before);
  std::map<std::string, std::string> functions;  // serialized, by name
  for (const auto& function : before.functions)
    functions[function->name().str()] = ExportFunctionDef(*function);
  while (!ledger.empty()) {
    auto [line, rest] = ledger.split('\n');
    ledger = rest;
    auto value = llvm::json::parse(line);
    if (!value) {
      ADD_FAILURE() << llvm::toString(value.takeError());
      break;
    }
    const llvm::json::Object& rewrite = *value->getAsObject();
    auto function = rewrite.getString("function");
    auto& body = all[function ? function->str() : ""];
    for (const std::string& name : Strings(rewrite, "removed")) body.erase(name);
    std::vector<std::string> names = Strings(rewrite, "made"), defs = Strings(rewrite, "node_defs");
    for (std::string& name : Strings(rewrite, "changed")) names.push_back(std::move(name));
    for (size_t i = 0; i < names.size(); ++i) {
      if (!defs[i].empty()) body[names[i]] = Decode(defs[i]);
    }
    std::vector<std::string> touched = Strings(rewrite, "functions"),
                             function_defs = Strings(rewrite, "function_defs");
    for (size_t i = 0; i < touched.size(); ++i) {
      if (function_defs[i].empty()) {
        functions.erase(touched[i]);
        all.erase(touched[i]);
      } else {
        functions[touched[i]] = Decode(function_defs[i]);
      }
    }
    if (touched.empty()) continue;
    proto::GraphDef library;
    for (const auto& [name, def] : functions)
      EXPECT_TRUE(library.mutable_library()->add_function()->ParseFromString(def));
    auto file = FileBytes::FromString(library.SerializeAsString(), "library");
    auto module = llvm::cantFail(ImportGraphDef(file, file->bytes()));
    for (const std::string& name : touched) {
      if (const Function* function = module->FindFunction(name))
        all[name] = NodeDefsOf(function->body);
    }
  }
  return all;
}

std::string FirstDifference(const NodeDefs& got, const NodeDefs& expected) {
  for (const auto& [body, nodes] : expected) {
    auto found = got.find(body);
    if (found == got.end()) return "function '" + body + "' is missing";
    for (const auto& [name, def] : nodes) {
      auto node = found->second.find(name);
      std::string where = body;
      where.append("/").append(name);
      if (node == found->second.end()) return where.append(" is missing");
      if (node->second == def) continue;
      proto::NodeDef a, b;
      EXPECT_TRUE(a.ParseFromString(node->second) && b.ParseFromString(def));
      if (a.SerializeAsString() != b.SerializeAsString())
        return where.append(" is ")
            .append(a.ShortDebugString().substr(0, 500))
            .append(", expected is ")
            .append(b.ShortDebugString().substr(0, 500));
    }
    for (const auto& [name, def] : found->second) {
      std::string where = body;
      if (!nodes.count(name)) return where.append("/").append(name).append(" is still there");
    }
  }
  for (const auto& [body, nodes] : got) {
    if (!expected.count(body)) return "function '" + body + "' is still there";
  }
  return "";
}

}  // namespace grapnel
