#include "lib/ir/import.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "lib/ir/node_types.h"
#include "lib/ir/source_walk.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/wire.h"
#include "lib/ir/wire_map.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Field numbers of GraphDef, FunctionDefLibrary, FunctionDef and NodeDef.
enum { kGraphNode = 1, kGraphLibrary = 2, kGraphVersions = 4 };
enum { kLibraryFunction = 1 };
enum { kFunctionSignature = 1, kFunctionNode = 3, kFunctionRet = 4, kFunctionControlRet = 6 };
enum { kNodeName = 1, kNodeOp = 2, kNodeInput = 3, kNodeDevice = 4, kNodeAttr = 5 };

class Importer {
 public:
  Importer(Module* module, const FileBytes* file) : module_(*module), file_(file) {}

  Error Run(llvm::StringRef graph_def) {
    std::vector<llvm::StringRef> nodes, functions;
    bool any = false;
    WireReader reader(graph_def);
    SourceWalk walk(file_);
    constexpr size_t kSmallNode = 64, kMostExpected = size_t{1} << 21;
    nodes.reserve(std::min(graph_def.size() / kSmallNode, kMostExpected));
    while (reader.Next()) {
      any = true;
      if (reader.Is(kGraphNode, WireType::kBytes)) {
        nodes.push_back(reader.bytes());
        walk.ReadUntil(reader.bytes().begin());
      } else if (reader.Is(kGraphLibrary, WireType::kBytes)) {
        module_.has_library = true;
        ReadLibrary(reader.bytes(), &functions);
      } else if (reader.Is(kGraphVersions, WireType::kBytes)) {
        module_.has_versions = true;
        module_.versions += reader.bytes();  // a message in several parts is their concatenation
      } else {
        module_.other_fields += reader.whole_field();
      }
    }
    if (reader.failed()) {
      if (!any) return MakeError("is not a GraphDef");
      Report({}, llvm::formatv("the graph is cut off or damaged: only the first {0} nodes and "
                               "{1} functions could be read",
                               nodes.size(), functions.size())
                     .str());
    }
    // Adds all functions before it reads bodies, because a body may call a function that comes
    // later in the file.
    for (llvm::StringRef bytes : functions) AddFunction(bytes);
    function_ = nullptr;
    graph_ = &module_.main;
    ReadNodes(nodes);
    nodes = {};  // frees sixteen bytes a node before the inputs need memory
    ResolveLinks();
    for (auto& function : module_.functions) ReadBody(function.get());
    return Error::success();
  }

 private:
  // Reports a problem of the node, or of the graph or function itself if `node` is empty.
  void Report(const llvm::Twine& node, std::string text, Severity severity = Severity::kError) {
    std::string where = node.str();
    if (function_ && where.empty())
      text = ("function '" + function_->name() + "': " + text).str();
    else if (function_)
      where = (function_->name() + "/" + where).str();
    module_.problems.push_back({severity, where, std::move(text)});
  }

  void ReadLibrary(llvm::StringRef library, std::vector<llvm::StringRef>* functions) {
    WireReader reader(library);
    while (reader.Next()) {
      if (reader.Is(kLibraryFunction, WireType::kBytes)) {
        functions->push_back(reader.bytes());
      } else {
        module_.other_library_fields += reader.whole_field();
      }
    }
    if (reader.failed()) Report({}, "the function library is cut off or damaged");
  }

  void AddFunction(llvm::StringRef bytes) {
    llvm::StringRef signature;
    WireReader reader(bytes);
    while (reader.Next()) {
      if (reader.Is(kFunctionSignature, WireType::kBytes)) signature = reader.bytes();
    }
    proto::OpDef op_def;
    if (reader.failed() || !op_def.ParseFromArray(signature.data(), signature.size()) ||
        op_def.name().empty()) {
      Report({}, llvm::formatv("function number {0} of the library cannot be read",
                               module_.functions.size() + 1)
                     .str());
    }
    if (module_.FindFunction(op_def.name()))
      Report({}, "function '" + op_def.name() + "' occurs twice");
    Function* function = module_.AddFunction(op_def.name());
    function->source = bytes;
    function->signature = signature.str();
    function->info = OpInfoFromProto(op_def);
  }

  // The fields of a NodeDef, and the hash of its name for the table of strings.
  struct ParsedNode {
    llvm::StringRef name, op, device;
    size_t attrs_at;
    bool failed;
    uint32_t hash;  // of the name
    uint32_t inputs_end;
  };
  struct ParsedInput {
    TensorName tensor;
    uint32_t hash;  // of the input node's name
  };

  void ReadNodes(llvm::ArrayRef<llvm::StringRef> nodes) {
    StringTable& strings = module_.strings;
    if (nodes.size() > 1000) strings.Reserve(strings.size() + nodes.size() + nodes.size() / 8);
    graph_->Reserve(graph_->end_id() + nodes.size());
    num_links_.clear();
    links_.clear();
    if (!function_) {
      // Reserves about the final size, because the memory that a growing vector frees is not
      // returned to the system.
      num_links_.reserve(nodes.size());
      links_.reserve(2 * nodes.size());
    }
    // Releases the file's pages while it reads a main graph. Functions are too small to make that
    // worthwhile.
    SourceWalk walk(function_ ? nullptr : file_);
    // Parses this many nodes before it interns their names, and prefetches the slots of the names
    // in the string table meanwhile: a large graph's table is not in the CPU's cache.
    constexpr size_t kAhead = 32;
    std::vector<ParsedNode> parsed;
    std::vector<ParsedInput> inputs;
    for (; !nodes.empty(); nodes = nodes.drop_front(std::min(kAhead, nodes.size()))) {
      parsed.clear();
      inputs.clear();
      for (llvm::StringRef bytes : nodes.take_front(kAhead)) {
        parsed.push_back(Parse(bytes, &inputs));
        parsed.back().inputs_end = inputs.size();
      }
      uint32_t first_input = 0;
      for (size_t i = 0; i < parsed.size(); ++i) {
        AddParsed(parsed[i], nodes[i]);
        if (!function_)
          AddLinks(llvm::ArrayRef(inputs).slice(first_input, parsed[i].inputs_end - first_input));
        first_input = parsed[i].inputs_end;
      }
      walk.ReadUntil(nodes.front().begin());
    }
    walk.End();
  }

  ParsedNode Parse(llvm::StringRef bytes, std::vector<ParsedInput>* inputs) {
    ParsedNode node;
    node.attrs_at = bytes.size();
    WireReader reader(bytes);
    while (reader.Next()) {
      if (reader.type() != WireType::kBytes) continue;
      switch (reader.field()) {
        case kNodeName:
          node.name = reader.bytes();
          break;
        case kNodeOp:
          node.op = reader.bytes();
          break;
        case kNodeDevice:
          node.device = reader.bytes();
          break;
        case kNodeInput:
          if (!function_) inputs->push_back(ParseInput(reader.bytes()));
          break;
        case kNodeAttr:
          node.attrs_at = std::min(node.attrs_at, reader.offset() - reader.whole_field().size());
          break;
        default:
          break;
      }
    }
    node.failed = reader.failed();
    node.hash = StringTable::HashOf(node.name);
    module_.strings.Prefetch(node.hash);
    return node;
  }

  ParsedInput ParseInput(llvm::StringRef text) {
    ParsedInput input = {ReadTensorName(text), 0};
    input.hash = StringTable::HashOf(input.tensor.node);
    module_.strings.Prefetch(input.hash);
    return input;
  }

  void AddParsed(const ParsedNode& node, llvm::StringRef bytes) {
    StringTable& strings = module_.strings;
    size_t number = graph_->end_id();
    if (node.failed) Report(node.name, "is cut off or damaged");
    if (node.name.empty()) Report({}, llvm::formatv("node number {0} has no name", number).str());
    if (node.op.empty()) Report(node.name, "has no op");
    StringId name_id = strings.InternBorrowed(node.name, node.hash);
    StringId device_id = node.device.empty() ? kEmptyString : strings.InternBorrowed(node.device);
    bool taken;
    graph_->AddImported(name_id, strings.InternBorrowed(node.op), device_id, bytes, &taken,
                        node.attrs_at);
    if (taken && !node.name.empty()) Report(node.name, "occurs twice: names must differ");
  }

  // Stores the inputs of a node of the main graph as name ids and output indices, because the nodes
  // that they name may not have been read yet.
  void AddLinks(llvm::ArrayRef<ParsedInput> inputs) {
    bool in_controls = false, is_plain = inputs.size() < kReadAgain;
    for (const ParsedInput& input : inputs) {
      is_plain = is_plain && (input.tensor.control || !in_controls);
      in_controls |= input.tensor.control;
    }
    num_links_.push_back(is_plain ? inputs.size() : kReadAgain);
    if (!is_plain) return;
    for (const ParsedInput& input : inputs) {
      links_.push_back({module_.strings.InternBorrowed(input.tensor.node, input.hash),
                        input.tensor.control ? kControlPort : input.tensor.index});
    }
  }

  // Connects the inputs that AddLinks stored. If an input does not exist, or a data input comes
  // after a control input, reads the NodeDef again to report the problem; also reads a NodeDef with
  // 255 or more inputs again.
  void ResolveLinks() {
    llvm::ArrayRef<Link> links = links_;
    for (NodeId id = 0; id < num_links_.size(); ++id) {
      bool is_plain = num_links_[id] != kReadAgain;
      llvm::ArrayRef<Link> own = links.take_front(is_plain ? num_links_[id] : 0);
      links = links.drop_front(own.size());
      sources_.clear();
      for (const Link& link : own) sources_.push_back(graph_->Find(link.node).id());
      if (!is_plain || llvm::is_contained(sources_, kNoNode)) {
        ResolveInputs(graph_->Source(id), id);
        continue;
      }
      for (size_t i = 0; i < own.size(); ++i)
        graph_->AddImportedInput(id, {sources_[i], own[i].index}, {}, own[i].index == kControlPort);
    }
    num_links_ = {};
    links_ = {};
  }

  void ResolveInputs(llvm::StringRef bytes, NodeId id) {
    int slot = 0;
    bool in_controls = false;
    WireReader reader(bytes);
    while (reader.Next()) {
      if (!reader.Is(kNodeInput, WireType::kBytes)) continue;
      TensorName input =
          function_ ? ReadFunctionTensorName(reader.bytes()) : ReadTensorName(reader.bytes());
      if (in_controls && !input.control) {
        Report(graph_->node(id).name(),
               llvm::formatv("input {0} ('{1}') comes after a control input", slot, reader.bytes())
                   .str());
      }
      in_controls |= input.control;
      graph_->AddImportedInput(id, Resolve(id, slot, input, reader.bytes()), reader.bytes(),
                               input.control);
      ++slot;
    }
  }

  Port Resolve(NodeId id, int slot, const TensorName& input, llvm::StringRef text) {
    Node source = graph_->Find(input.node);
    if (!source && !function_ && !input.control) {
      source = graph_->Find(
          text);  // a node's name may end in ":1" in a hand-made file; then that node is the input
    }
    if (!source) {
      Report(graph_->node(id).name(),
             llvm::formatv("input {0} ('{1}') not found", slot, text).str());
      return {};
    }
    if (input.control) return {source.id(), kControlPort};
    if (!function_ || source.op() == "_Arg") return {source.id(), input.index};
    const OpInfo* info = DefinitionOf(source);
    if (info) {
      llvm::StringRef output = input.output;
      if (output.empty() && !info->outputs.empty()) output = info->outputs[0].name;
      int port = PortOfOutput(source, *info, output, input.index);
      if (port < 0) {
        Report(graph_->node(id).name(),
               llvm::formatv("input {0} ('{1}'): op '{2}' of '{3}' has no such output", slot, text,
                             source.op(), source.name())
                   .str());
        return {};
      }
      return {source.id(), port};
    }
    // The op is custom, so its output arguments are unknown. Gives each output a port in the order
    // in which readers mention them, and keeps the name of the output for export.
    StringId output = module_.strings.Intern(input.output);
    auto [met, is_new] = unknown_ports_.try_emplace({source.id(), output, input.index}, 0);
    if (is_new) {
      met->second = num_unknown_ports_[source.id()]++;
      function_->unknown_outputs[{source.id(), met->second}] = {output, input.index};
    }
    return {source.id(), met->second};
  }

  void ReadBody(Function* function) {
    function_ = function;
    graph_ = &function->body;
    unknown_ports_.clear();
    num_unknown_ports_.clear();
    int index = 0;
    for (const OpArg& arg : function->info.inputs) {
      NodeId id = graph_->AddNode(graph_->UniqueName(arg.name), "_Arg");
      if (arg.type != proto::DT_INVALID) graph_->SetAttr(id, "T", attr::Type(arg.type));
      graph_->SetAttr(id, "index", attr::Int(index++));
      function->args.push_back(id);
    }
    std::vector<llvm::StringRef> nodes, rets, control_rets;
    WireReader reader(function->source);
    while (reader.Next()) {
      if (reader.Is(kFunctionNode, WireType::kBytes)) nodes.push_back(reader.bytes());
      if (reader.Is(kFunctionRet, WireType::kBytes)) rets.push_back(reader.bytes());
      if (reader.Is(kFunctionControlRet, WireType::kBytes)) control_rets.push_back(reader.bytes());
    }
    NodeId first = graph_->end_id();
    ReadNodes(nodes);
    for (size_t i = 0; i < nodes.size(); ++i) ResolveInputs(nodes[i], first + i);
    ReadResults(rets);
    for (llvm::StringRef entry : control_rets) {
      auto [name, node] = ReadMapEntry(entry);
      Node target = graph_->Find(node);
      if (!target) {
        Report({}, ("control output '" + name + "': node '" + node + "' not found").str());
        continue;
      }
      function->control_results.emplace_back(name.str(), target.id());
    }
  }

  void ReadResults(llvm::ArrayRef<llvm::StringRef> rets) {
    int index = 0;
    for (const OpArg& output : function_->info.outputs) {
      llvm::StringRef value;
      for (llvm::StringRef entry : rets) {
        auto [key, text] = ReadMapEntry(entry);
        if (key == output.name) value = text;
      }
      NodeId id = graph_->AddNode(graph_->UniqueName(output.name + "_RetVal"), "_Retval");
      if (output.type != proto::DT_INVALID) graph_->SetAttr(id, "T", attr::Type(output.type));
      graph_->SetAttr(id, "index", attr::Int(index++));
      function_->results.push_back({output.name, id});
      if (value.empty()) {
        Report({}, "result '" + output.name + "' has no value");
        continue;
      }
      graph_->AddImportedInput(id, Resolve(id, 0, ReadFunctionTensorName(value), value), value,
                               false);
    }
  }

  struct Link {
    StringId node;
    int32_t index;  // kControlPort: a control input
  };
  static constexpr size_t kReadAgain = 255;  // instead of a number of links: read the NodeDef again

  Module& module_;
  const FileBytes* file_;
  Graph* graph_ = nullptr;
  Function* function_ = nullptr;
  std::vector<uint8_t> num_links_;  // per node of the main graph
  std::vector<Link> links_;
  llvm::SmallVector<NodeId, 16> sources_;
  // For the function that is being read: the ports given to the outputs of nodes with custom ops
  // (key: node, output's name, index), and how many ports each such node has so far.
  std::map<std::tuple<NodeId, StringId, int32_t>, int32_t> unknown_ports_;
  llvm::DenseMap<NodeId, int32_t> num_unknown_ports_;
};

}  // namespace

Expected<std::unique_ptr<Module>> ImportGraphDef(std::shared_ptr<const FileBytes> file,
                                                 llvm::StringRef graph_def) {
  auto module = std::make_unique<Module>();
  const FileBytes* walked = file.get();
  if (file) module->sources.push_back(std::move(file));
  RETURN_IF_ERROR(Importer(module.get(), walked).Run(graph_def));
  return module;
}

}  // namespace grapnel
