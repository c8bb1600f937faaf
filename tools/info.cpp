// `grapnel info MODEL`: what is in a file, and what is wrong with it.
#include <future>

#include "lib/check/coverage.h"
#include "lib/check/first_cause.h"
#include "lib/exec/kernel.h"
#include "lib/ir/summary.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_text.h"
#include "llvm/Support/JSON.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph;
  bool all = false, unsupported = false, kernels = false, devices = false;
};

void PrintTensors(llvm::raw_ostream& os, const char* title, llvm::ArrayRef<TensorSummary> tensors,
                  bool all) {
  if (tensors.empty()) return;
  os << "\n" << title << "\n";
  std::vector<std::vector<std::string>> rows;
  size_t shown = all ? tensors.size() : std::min<size_t>(tensors.size(), 12);
  for (size_t i = 0; i < shown; ++i) {
    const TensorSummary& t = tensors[i];
    rows.push_back({t.name, t.dtype + (t.shape == "?" ? "" : t.shape), t.op});
  }
  os << Table(rows, "  ");
  if (shown < tensors.size())
    os << "  ... and " << WithCommas(tensors.size() - shown) << " more (--all)\n";
}

void PrintCalls(llvm::raw_ostream& os, const Summary& summary, bool all) {
  if (summary.functions.empty()) return;
  os << "\nfunctions\n";
  size_t shown = 0;
  for (const FunctionSummary& function : summary.functions) {
    if (!all && shown++ == 20) {
      os << "  ... and " << WithCommas(summary.functions.size() - 20) << " more (--all)\n";
      break;
    }
    os << "  " << function.name << ": " << Plural(function.nodes, "node");
    if (function.callers == 0) os << ", called by nobody";
    if (!function.calls.empty()) {
      os << ", calls ";
      for (size_t i = 0; i < function.calls.size(); ++i) os << (i ? ", " : "") << function.calls[i];
    }
    os << "\n";
  }
}

// "float[2,3]"; what is no tensor (an initialiser that is only to run) has no dtype.
std::string TypeText(const SignatureTensor& tensor) {
  if (tensor.dtype == proto::DT_INVALID) return "no tensor";
  return (DataTypeName(tensor.dtype) + tensor.shape.ToString()).str();
}

void PrintSignatures(llvm::raw_ostream& os, const GraphInFile& graph) {
  for (const Signature& signature : graph.signatures) {
    os << "\nsignature " << signature.name << "\n";
    std::vector<std::vector<std::string>> rows = {};
    auto add = [&](const char* side, const SignatureTensor& t) {
      rows.push_back({side, t.key, TypeText(t), t.tensor});
    };
    for (const auto& tensor : signature.inputs) add("in", tensor);
    for (const auto& tensor : signature.outputs) add("out", tensor);
    os << Table(rows, "  ");
  }
}

void PrintGraph(llvm::raw_ostream& os, const GraphInFile& graph, const Summary& summary, bool all) {
  os << Plural(summary.nodes, "node") << ", " << Plural(summary.data_edges, "edge") << ", "
     << Plural(summary.control_edges, "control edge");
  if (!summary.functions.empty()) {
    os << "; " << Plural(summary.functions.size(), "function") << " of "
       << Plural(summary.function_nodes, "node");
  }
  os << "\n"
     << Plural(summary.constants, "constant") << ", " << HumanBytes(summary.constant_bytes)
     << " in the file";
  if (summary.producer) os << "; GraphDef version " << summary.producer;
  os << "\n";
  PrintTensors(os, "inputs", summary.inputs, all);
  PrintTensors(os, "outputs (nobody reads them)", summary.outputs, all);
  PrintSignatures(os, graph);
  os << "\nops\n";
  std::string line = "  ";
  size_t shown = 0;
  for (const auto& [op, count] : summary.ops) {
    if (!all && shown++ == 24) {
      line += llvm::formatv("... and {0} more kinds (--all)", summary.ops.size() - 24).str();
      break;
    }
    std::string cell = op + " " + WithCommas(count) + "   ";
    if (line.size() + cell.size() > 100) {
      os << llvm::StringRef(line).rtrim() << "\n";
      line = "  ";
    }
    line += cell;
  }
  os << llvm::StringRef(line).rtrim() << "\n";
  if (summary.devices.size() > 1 ||
      (summary.devices.size() == 1 && !summary.devices.begin()->first.empty())) {
    os << "\ndevices\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& [device, count] : summary.devices)
      rows.push_back({device.empty() ? "(none)" : device, WithCommas(count)});
    os << Table(rows, "  ");
  }
  if (!summary.largest_constants.empty()) {
    os << "\nlargest constants, by bytes in the file\n";
    std::vector<std::vector<std::string>> rows;
    for (const ConstantSummary& c : summary.largest_constants) {
      rows.push_back({HumanBytes(c.stored_bytes), c.dtype + c.shape, c.name});
      if (!all && rows.size() == 5) break;
    }
    os << Table(rows, "  ");
  }
  PrintCalls(os, summary, all);
}

void WriteTensors(llvm::json::OStream& json, const char* key,
                  llvm::ArrayRef<TensorSummary> tensors) {
  json.attributeArray(key, [&] {
    for (const TensorSummary& t : tensors) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(t.name));
        json.attribute("op", llvm::json::fixUTF8(t.op));
        json.attribute("dtype", t.dtype);
        json.attribute("shape", t.shape);
      });
    }
  });
}

void WriteGraphJson(llvm::json::OStream& json, const GraphInFile& graph, const Summary& summary) {
  json.attribute("title", llvm::json::fixUTF8(graph.title));
  json.attribute("nodes", static_cast<int64_t>(summary.nodes));
  json.attribute("data_edges", static_cast<int64_t>(summary.data_edges));
  json.attribute("control_edges", static_cast<int64_t>(summary.control_edges));
  json.attribute("function_nodes", static_cast<int64_t>(summary.function_nodes));
  json.attribute("constants", static_cast<int64_t>(summary.constants));
  json.attribute("constant_bytes", static_cast<int64_t>(summary.constant_bytes));
  json.attribute("producer", summary.producer);
  json.attribute("min_consumer", summary.min_consumer);
  WriteTensors(json, "inputs", summary.inputs);
  WriteTensors(json, "outputs", summary.outputs);
  json.attributeArray("signatures", [&] {
    for (const Signature& signature : graph.signatures) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(signature.name));
        json.attribute("method", llvm::json::fixUTF8(signature.method));
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
        json.attribute("stored_bytes", static_cast<int64_t>(c.stored_bytes));
      });
    }
  });
  json.attributeArray("functions", [&] {
    for (const FunctionSummary& function : summary.functions) {
      json.object([&] {
        json.attribute("name", llvm::json::fixUTF8(function.name));
        json.attribute("nodes", static_cast<int64_t>(function.nodes));
        json.attribute("callers", function.callers);
        json.attributeArray("calls", [&] {
          for (const std::string& callee : function.calls) json.value(llvm::json::fixUTF8(callee));
        });
      });
    }
  });
}

void WriteProblems(llvm::json::OStream& json, llvm::ArrayRef<std::string> lines) {
  json.attributeArray("problems", [&] {
    for (const std::string& line : lines) json.value(llvm::json::fixUTF8(line));
  });
}

struct Findings {
  Summary summary;
  std::vector<std::string> problems;
};

// Both only read the graph, and of a large one each takes a while: they go side by side.
Findings Examine(const OpenedGraph& input) {
  auto problems = std::async(std::launch::async, [&input] { return ProblemLines(input); });
  Summary summary = Summarize(input.module());
  return {std::move(summary), problems.get()};
}

// Which ops run, by dtype and device.
int PrintKernels(llvm::raw_ostream& os, bool as_json) {
  std::vector<std::vector<std::string>> rows;
  llvm::json::Array list;
  for (const KernelDef& def : KernelRegistry::Get().All()) {
    std::string types;
    llvm::json::Array names;
    for (DataType type : def.types) {
      if (!types.empty()) types += ", ";
      types += DataTypeName(type).str();
      names.push_back(DataTypeName(type));
    }
    std::string attr = def.type_attr ? def.type_attr : "";
    std::string listed = "any";
    if (!types.empty()) {
      listed = attr;
      listed += '=';
      listed += types;
    }
    rows.push_back({def.op, def.device, listed});
    list.push_back(llvm::json::Object{
        {"op", def.op}, {"device", def.device}, {"type_attr", attr}, {"types", std::move(names)}});
  }
  if (as_json)
    os << llvm::formatv("{0:2}", llvm::json::Value(std::move(list))) << "\n";
  else
    os << Table(rows, "");
  return kExitOk;
}

Expected<int> PrintUnsupported(const OpenedGraph& input, const Flags& flags,
                               Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  std::vector<UnsupportedOp> ops = UnsupportedOps(input.module(), "CPU");
  if (invocation.flags.json) {
    llvm::json::OStream json(os, 1);
    json.array([&] {
      for (const UnsupportedOp& op : ops) {
        json.object([&] {
          json.attribute("op", llvm::json::fixUTF8(op.op));
          json.attribute("nodes", op.nodes);
          json.attribute("reason", llvm::json::fixUTF8(op.reason));
          json.attribute("first", llvm::json::fixUTF8(op.first));
        });
      }
    });
    os << "\n";
  } else if (ops.empty()) {
    os << flags.model << ": every op runs on the CPU\n";
  } else {
    std::vector<std::vector<std::string>> rows;
    rows.reserve(ops.size());
    for (const UnsupportedOp& op : ops)
      rows.push_back({op.op, Plural(op.nodes, "node") + ", first '" + op.first + "'", op.reason});
    os << flags.model << ": cannot run: " << Plural(ops.size(), "op") << " without a kernel\n"
       << Table(rows, "  ");
  }
  return ops.empty() ? kExitOk : kExitNo;
}

// A kind of which there is none is a row that says why.
Expected<int> PrintDevices(Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  struct Row {
    std::string name, kind, text;
  };
  std::vector<Row> rows;
  for (const std::string& kind : Devices::Get().Kinds()) {
    auto devices = Devices::Get().OfKind(kind);
    if (!devices) {
      rows.push_back({"", kind, TextOf(devices.takeError())});
      continue;
    }
    for (Device* device : *devices) rows.push_back({device->name(), kind, device->Describe()});
  }
  if (!invocation.flags.json) {
    for (const Row& row : rows)
      os << row.name << (row.name.empty() || row.text.empty() ? "" : "  ") << row.text << "\n";
    return kExitOk;
  }
  llvm::json::OStream json(os, 1);
  json.array([&] {
    for (const Row& row : rows) {
      json.object([&] {
        json.attribute("device", row.name.empty() ? llvm::json::Value(nullptr) : row.name);
        json.attribute("kind", row.kind);
        json.attribute("text", llvm::json::fixUTF8(row.text));
      });
    }
  });
  os << "\n";
  return kExitOk;
}

Expected<int> PrintDebugFolder(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(DebugFolder folder, ReadDebugFolder(flags.model));
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    llvm::json::OStream json(os, 1);
    WriteDebugFolderJson(folder, json);
    os << "\n";
  } else {
    auto count_bad = [](const DebugRun& run) { return FindCauses(run, 1).alerts.size(); };
    WriteDebugFolderText(folder, flags.all, count_bad, os);
  }
  return kExitOk;
}

// All graphs of the file, or the one of --graph.
Expected<std::vector<OpenedGraph>> GraphsToTell(const Flags& flags) {
  std::vector<OpenedGraph> graphs;
  if (!flags.graph.empty()) {
    ASSIGN_OR_RETURN(OpenedGraph graph, OpenedGraph::Open(flags.model, flags.graph));
    graphs.push_back(std::move(graph));
    return graphs;
  }
  ASSIGN_OR_RETURN(Model opened, OpenModel(flags.model));
  auto model = std::make_shared<Model>(std::move(opened));
  for (size_t i = 0; i < model->graphs.size(); ++i) graphs.emplace_back(model, i);
  return graphs;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.devices) return PrintDevices(invocation);
  if (flags.kernels) return PrintKernels(invocation.out(), invocation.flags.json);
  if (flags.model.empty()) return MakeError("MODEL is required (or --kernels, --devices)");
  if (flags.unsupported) {
    return OnEachGraph(flags.model, flags.graph, {}, invocation, [&](OpenedGraph& input) {
      return PrintUnsupported(input, flags, invocation);
    });
  }
  if (IsDebugFolder(flags.model)) return PrintDebugFolder(flags, invocation);
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, GraphsToTell(flags));
  const Model& model = graphs.front().model();
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    llvm::json::OStream json(os, 1);
    json.object([&] {
      json.attribute("path", llvm::json::fixUTF8(flags.model));
      json.attribute("kind", FileKindName(model.kind));
      json.attributeArray("graphs", [&] {
        for (const OpenedGraph& opened : graphs) {
          const GraphInFile& graph = opened.file();
          json.object([&] {
            if (!graph.module) {
              json.attribute("title", llvm::json::fixUTF8(graph.title));
              return;
            }
            Findings found = Examine(opened);
            WriteGraphJson(json, graph, found.summary);
            WriteProblems(json, found.problems);
          });
        }
      });
    });
    os << "\n";
    return kExitOk;
  }
  os << flags.model << ": " << FileKindName(model.kind);
  if (model.graphs.size() > 1) os << ", " << Plural(model.graphs.size(), "graph");
  os << "\n";
  for (const OpenedGraph& opened : graphs) {
    const GraphInFile& graph = opened.file();
    if (!graph.module) {  // of a dump folder: a list, each to be opened by itself
      os << "  " << graph.title << "\n";
      continue;
    }
    if (!graph.title.empty()) os << "\n--- " << graph.title << "\n";
    Findings found = Examine(opened);
    const std::vector<std::string>& problems = found.problems;
    PrintGraph(os, graph, found.summary, flags.all);
    if (problems.empty()) continue;
    os << "\n" << Plural(problems.size(), "problem") << "\n";
    size_t shown = flags.all ? problems.size() : std::min<size_t>(problems.size(), 20);
    for (size_t i = 0; i < shown; ++i) os << "  " << problems[i] << "\n";
    if (shown < problems.size())
      os << "  ... and " << WithCommas(problems.size() - shown) << " more (--all)\n";
  }
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model,
              "any TensorFlow graph: a file, a folder, or - for standard input; or a debug folder");
  line.Flag("--all", flags->all, "no list is cut short");
  line.Flag("--unsupported", flags->unsupported,
            "say which ops `run` has no kernel for, and why (exit 1 if there are any)");
  line.Option("--graph", flags->graph,
              "only this graph of a file with several: its title, as all are listed");
  line.Flag("--kernels", flags->kernels, "list the ops that `run` knows, by device and dtype");
  line.Flag("--devices", flags->devices,
            "list the devices of this machine, and why there is no GPU if there is none");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("info", "says what is in a model and what is wrong with it", "info model.pb",
                SetUp);

}  // namespace
}  // namespace grapnel
