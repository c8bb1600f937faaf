#include "lib/io/library_json.h"

namespace grapnel {
namespace {

class LibraryJsonWriter {
 public:
  LibraryJsonWriter(const FunctionLibrary& library, llvm::json::OStream& json)
      : library_(library), json_(json) {}

  void WriteFunction(const LibraryFunction& each) {
    json_.attribute("name", llvm::json::fixUTF8(each.function->name()));
    json_.attribute("nodes", static_cast<int64_t>(each.nodes));
    json_.attribute("callers", static_cast<int64_t>(each.callers.size()));
    WriteNames("calls", each.calls);
    json_.attribute("python_name", llvm::json::fixUTF8(each.name.base));
    if (each.name.number) json_.attribute("number", *each.name.number);
    json_.attribute("role", RoleName(each.role));
    if (!each.part.empty()) json_.attribute("part", llvm::json::fixUTF8(each.part));
    if (each.name.is_control_flow && (each.name.is_rewritten || each.name.is_gradient))
      json_.attribute("direction", each.name.is_gradient ? "backward" : "forward");
    json_.attribute("status", StatusName(each.status));
    json_.attribute("bytes", static_cast<int64_t>(each.bytes));
    json_.attribute("hash", llvm::formatv("{0:x-16}", each.hash).str());
    WriteName("copy_of", each.copy_of);
    WriteName("partner", each.partner);
    WriteName("forward", each.forward);
    WriteName("backward", each.backward);
    WriteName("trace", each.trace);
    WriteName("successor", each.successor);
    WriteArguments("arguments", each.arguments);
    WriteArguments("results", each.results);
    WriteUses(each.uses);
    json_.attributeArray("constants", [&] {
      for (const TraceConstant& constant : each.constants)
        json_.object([&] { WriteConstant(constant); });
    });
    WriteTexts("has", each.has);
    WriteTexts("lacks", each.lacks);
  }

  void WriteRow(const FunctionRow& row) {
    json_.attribute("name", llvm::json::fixUTF8(row.name));
    json_.attribute("role", RoleName(row.role));
    json_.attribute("entry", row.is_entry);
    json_.attribute("one_body", row.one_body);
    WriteNames("traces", llvm::ArrayRef(row.members).take_front(row.traces));
    WriteNames("others", llvm::ArrayRef(row.members).drop_front(row.traces));
  }

 private:
  std::string NameOf(int number) const {
    return llvm::json::fixUTF8(library_.functions[number].function->name());
  }

  void WriteName(llvm::StringRef key, int number) {
    if (number >= 0) json_.attribute(key, NameOf(number));
  }

  void WriteNames(llvm::StringRef key, llvm::ArrayRef<int> numbers) {
    json_.attributeArray(key, [&] {
      for (int number : numbers) json_.value(NameOf(number));
    });
  }

  void WriteTexts(llvm::StringRef key, llvm::ArrayRef<std::string> texts) {
    json_.attributeArray(key, [&] {
      for (const std::string& text : texts) json_.value(llvm::json::fixUTF8(text));
    });
  }

  void WriteArguments(llvm::StringRef key, llvm::ArrayRef<FunctionArgument> arguments) {
    json_.attributeArray(key, [&] {
      for (const FunctionArgument& argument : arguments) {
        json_.object([&] {
          json_.attribute("name", llvm::json::fixUTF8(argument.name));
          json_.attribute("dtype", llvm::json::fixUTF8(argument.type));
          json_.attribute("shape", argument.shape.ToString());
          if (argument.captured) json_.attribute("captured", true);
        });
      }
    });
  }

  void WriteUses(llvm::ArrayRef<FunctionUse> uses) {
    json_.attributeArray("uses", [&] {
      for (const FunctionUse& use : uses) {
        json_.object([&] {
          if (use.caller >= 0) json_.attribute("function", NameOf(use.caller));
          json_.attribute("node", llvm::json::fixUTF8(use.node.name()));
          json_.attribute("op", llvm::json::fixUTF8(use.node.op()));
          if (!use.attribute.empty())
            json_.attribute("attribute", llvm::json::fixUTF8(use.attribute));
          if (use.place >= 0) json_.attribute("place", use.place);
        });
      }
    });
  }

  void WriteConstant(const TraceConstant& constant) {
    if (!constant.argument.empty())
      json_.attribute("argument", llvm::json::fixUTF8(constant.argument));
    json_.attribute("value", llvm::json::fixUTF8(constant.value));
    WriteTexts("nodes", constant.nodes);
  }

  const FunctionLibrary& library_;
  llvm::json::OStream& json_;
};

}  // namespace

void WriteLibraryJson(const FunctionLibrary& library, llvm::json::OStream& json) {
  LibraryJsonWriter writer(library, json);
  json.attributeArray("functions", [&] {
    for (const LibraryFunction& each : library.functions)
      json.object([&] { writer.WriteFunction(each); });
  });
  json.attributeArray("python_functions", [&] {
    for (const FunctionRow& row : library.rows) json.object([&] { writer.WriteRow(row); });
  });
}

}  // namespace grapnel
