#include "lib/io/summary_json.h"

#include "lib/io/library_json.h"
#include "lib/io/object_functions_text.h"
#include "lib/io/saved_variables.h"
#include "lib/io/signature.h"

namespace grapnel {
namespace {

void WriteTensorSummaries(llvm::json::OStream& json, const char* key,
                          llvm::ArrayRef<TensorSummary> tensors) {
  json.attributeArray(key, [&] {
    for (const TensorSummary& t : tensors) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(t.name));
        json.attribute("op", llvm::json::fixUTF8(t.op));
        json.attribute("dtype", t.dtype);
        json.attribute("shape", t.shape);
        if (t.index) json.attribute("index", *t.index);
        if (t.held_dtype.empty()) return;
        json.attribute("held_dtype", t.held_dtype);
        json.attribute("held_shape", t.held_shape);
      });
    }
  });
}

void WriteEffects(llvm::json::OStream& json, llvm::ArrayRef<EffectSummary> effects) {
  json.attributeArray("effects", [&] {
    for (const EffectSummary& effect : effects) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(effect.name));
        json.attribute("op", llvm::json::fixUTF8(effect.op));
      });
    }
  });
}

void WriteSignatures(llvm::json::OStream& json, const GraphInFile& graph) {
  const Signature* usual = DefaultSignature(graph);
  json.attributeArray("signatures", [&] {
    for (const Signature& signature : graph.signatures) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(signature.name));
        json.attribute("method", llvm::json::fixUTF8(signature.method));
        if (&signature == usual) json.attribute("default", true);
        std::vector<std::string> calls = BodyOf(graph, signature).calls;
        if (!calls.empty()) json.attribute("runs", llvm::json::fixUTF8(calls.back()));
        for (auto [key, list] :
             {std::pair("inputs", &signature.inputs), std::pair("outputs", &signature.outputs)}) {
          json.attributeArray(key, [&, tensors = list] {
            for (const SignatureTensor& t : *tensors) {
              json.object([&] {
                json.attribute("key", llvm::json::fixUTF8(t.key));
                json.attribute("tensor", llvm::json::fixUTF8(t.tensor));
                json.attribute("dtype", DataTypeName(t.dtype));
                json.attribute("shape", t.shape.ToString());
              });
            }
          });
        }
      });
    }
  });
}

void WriteVariables(llvm::json::OStream& json, const GraphInFile& graph) {
  json.attributeArray("variables", [&] {
    for (const SavedVariable& variable : VariablesOf(graph)) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(variable.name));
        json.attribute("dtype", DataTypeName(variable.dtype));
        json.attribute("shape", variable.shape.ToString());
        if (variable.trainable) json.attribute("trainable", *variable.trainable);
        json.attribute("own", variable.is_own);
      });
    }
  });
}

}  // namespace

void WriteSummaryJson(const GraphInFile& graph, const Summary& summary,
                      const FunctionLibrary& library, llvm::json::OStream& json) {
  json.attribute("title", llvm::json::fixUTF8(graph.title));
  json.attribute("nodes", static_cast<int64_t>(summary.nodes));
  json.attribute("data_edges", static_cast<int64_t>(summary.data_edges));
  json.attribute("control_edges", static_cast<int64_t>(summary.control_edges));
  json.attribute("function_nodes", static_cast<int64_t>(summary.function_nodes));
  json.attribute("constants", static_cast<int64_t>(summary.constants));
  json.attribute("constant_bytes", static_cast<int64_t>(summary.constant_bytes));
  json.attribute("producer", summary.producer);
  json.attribute("min_consumer", summary.min_consumer);
  WriteTensorSummaries(json, "inputs", summary.inputs);
  WriteTensorSummaries(json, "outputs", summary.outputs);
  if (summary.is_function) WriteEffects(json, summary.effects);
  const GraphInFile& whole = graph.whole ? *graph.whole : graph;
  if (graph.whole) json.attribute("shown", llvm::json::fixUTF8(graph.signatures.front().name));
  WriteSignatures(json, whole);
  WriteObjectFunctionsJson(whole, json);
  WriteVariables(json, graph);
  json.attributeArray("ops", [&] {
    for (const auto& [op, count] : summary.ops) {
      json.object([&, &op = op, &count = count] {
        json.attribute("op", llvm::json::fixUTF8(op));
        json.attribute("count", static_cast<int64_t>(count));
      });
    }
  });
  json.attributeArray("devices", [&] {
    for (const auto& [device, count] : summary.devices) {
      json.object([&, &device = device, &count = count] {
        json.attribute("device", llvm::json::fixUTF8(device));
        json.attribute("nodes", static_cast<int64_t>(count));
      });
    }
  });
  json.attributeArray("largest_constants", [&] {
    for (const ConstantSummary& c : summary.largest_constants) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(c.name));
        json.attribute("dtype", c.dtype);
        json.attribute("shape", c.shape);
        json.attribute("bytes", static_cast<int64_t>(c.bytes));
        json.attribute("stored_bytes", static_cast<int64_t>(c.stored_bytes));
      });
    }
  });
  WriteLibraryJson(library, json);
}

}  // namespace grapnel
