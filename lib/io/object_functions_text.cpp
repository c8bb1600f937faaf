#include "lib/io/object_functions_text.h"

#include "lib/io/signature.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::string HeadOf(const ObjectFunction& function, const ObjectTrace& trace) {
  return Printable(function.path + "(" + trace.Parameters() + ") -> " + trace.returns);
}

// True for functions that few users call: those that Keras 2 saves of each layer beside its
// `__call__`, and those of objects deep in others.
bool IsMinor(const ObjectFunction& function) {
  constexpr size_t kLongest = 60;
  llvm::StringRef path = function.path;
  llvm::StringRef name = path.substr(path.rfind('.') + 1);
  return path.size() > kLongest || name == "call_and_return_all_conditional_losses";
}

void WriteTable(const ObjectTrace& trace, llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows;
  auto add = [&](const char* side, const SignatureTensor& tensor) {
    rows.push_back({side, tensor.key, TypeText(tensor.dtype, tensor.shape), tensor.tensor});
  };
  for (const SignatureTensor& input : trace.inputs) add("in", input);
  for (const FlatStructure::Value& value : trace.values)
    rows.push_back({"in", value.key, "= " + value.text, ""});
  for (const SignatureTensor& output : trace.outputs) add("out", output);
  os << Table(rows, "  ");
}

void WriteTraceTensors(const char* name, llvm::StringRef library_name,
                       llvm::ArrayRef<SignatureTensor> tensors, llvm::json::OStream& json) {
  json.attributeArray(name, [&] {
    for (const SignatureTensor& tensor : tensors) {
      json.object([&] {
        json.attribute("key", llvm::json::fixUTF8(tensor.key));
        json.attribute(library_name, llvm::json::fixUTF8(tensor.tensor));
        json.attribute("dtype", DataTypeName(tensor.dtype));
        json.attribute("shape", tensor.shape.ToString());
      });
    }
  });
}

void WriteTrace(const ObjectFunction& function, const ObjectTrace& trace,
                llvm::json::OStream& json) {
  json.attribute("name", llvm::json::fixUTF8(function.NameOf(trace)));
  json.attribute("runs", llvm::json::fixUTF8(trace.function));
  json.attributeArray("parameters", [&] {
    for (const ObjectTrace::Parameter& parameter : trace.parameters) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(parameter.name));
        json.attribute(parameter.is_value ? "value" : "type", llvm::json::fixUTF8(parameter.text));
      });
    }
  });
  json.attribute("returns", llvm::json::fixUTF8(trace.returns));
  WriteTraceTensors("inputs", "argument", trace.inputs, json);
  json.attributeArray("values", [&] {
    for (const FlatStructure::Value& value : trace.values) {
      json.object([&] {
        json.attribute("key", llvm::json::fixUTF8(value.key));
        json.attribute("value", llvm::json::fixUTF8(value.text));
      });
    }
  });
  WriteTraceTensors("outputs", "result", trace.outputs, json);
}

}  // namespace

void WriteObjectFunctionsText(const GraphInFile& graph, bool all, llvm::raw_ostream& os) {
  constexpr size_t kMost = 12;
  std::vector<ObjectFunction> functions = ObjectFunctionsOf(graph);
  if (functions.empty()) return;
  const size_t count = functions.size();
  if (!all) llvm::erase_if(functions, [](const auto& function) { return IsMinor(function); });
  bool with_tables = all || llvm::all_of(graph.signatures, IsInternal);
  size_t shown = all ? count : std::min(kMost, functions.size());
  if (!with_tables) os << "\nfunctions of the objects (--function)\n";
  for (const ObjectFunction& function : llvm::ArrayRef(functions).take_front(shown)) {
    if (function.traces.empty())
      os << (with_tables ? "\nfunction " : "  ") << Printable(function.path)
         << ": no trace, since the program never called it\n";
    for (const ObjectTrace& trace : function.traces) {
      if (!with_tables) {
        os << "  " << HeadOf(function, trace) << "\n";
        continue;
      }
      os << "\nfunction " << HeadOf(function, trace) << ": runs " << Printable(trace.function)
         << "\n";
      WriteTable(trace, os);
    }
  }
  if (shown < count) os << "  ... and " << WithCommas(count - shown) << " more (--all)\n";
}

void WriteObjectFunctionsJson(const GraphInFile& graph, llvm::json::OStream& json) {
  json.attributeArray("object_functions", [&] {
    for (const ObjectFunction& function : ObjectFunctionsOf(graph)) {
      json.object([&] {
        json.attribute("path", llvm::json::fixUTF8(function.path));
        json.attributeArray("traces", [&] {
          for (const ObjectTrace& trace : function.traces)
            json.object([&] { WriteTrace(function, trace, json); });
        });
      });
    }
  });
}

}  // namespace grapnel
