#include "lib/query/graph_tables.h"

#include <algorithm>
#include <map>
#include <memory>

#include "lib/diff/scope_hash.h"
#include "lib/io/library_text.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "lib/pass/run_record.h"
#include "lib/shape/body_costs.h"
#include "lib/shape/flops.h"
#include "lib/shape/module_shapes.h"
#include "lib/support/file.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr const char kSchema[] =
    R"(-- Nodes of the main graph and of every function. Arguments and results of functions are nodes of op _Arg and _Retval.
CREATE TABLE nodes (
  id INTEGER PRIMARY KEY,  -- numbered over all bodies, in the file's order
  name TEXT,
  op TEXT,
  function TEXT,           -- the function whose body contains it; NULL: the main graph
  scope TEXT,              -- the name up to its last /; '' at the top
  layer TEXT,              -- layers.name; NULL: in no layer
  device TEXT,             -- the requested device; NULL: none
  inputs INTEGER,          -- data inputs
  control_inputs INTEGER,
  readers INTEGER          -- inputs of other nodes that read it, including control inputs
);

-- Data and control edges.
CREATE TABLE edges (
  source INTEGER,          -- nodes.id; NULL: the input names a missing node
  output INTEGER,          -- its output; NULL: a control edge, or no source
  target INTEGER,          -- nodes.id of the reader
  input INTEGER,           -- its input; NULL: a control edge
  dtype TEXT               -- NULL: a control edge, or unknown
);

-- Attributes as written on the nodes, without defaults.
CREATE TABLE attributes (
  node INTEGER,            -- nodes.id
  name TEXT,
  value TEXT               -- as `grapnel opt --print` shows it: float, [1,2,2,1], "SAME"
);

-- Const nodes; the table `statistics` describes their values.
CREATE TABLE constants (
  node INTEGER PRIMARY KEY,  -- nodes.id
  dtype TEXT,
  shape TEXT,              -- [2,3]
  elements INTEGER,        -- NULL: unknown, or more than fit in 64 bits
  bytes INTEGER            -- in the file
);

-- The values of variables and constants. A variable's value is that in the model's checkpoint.
CREATE TABLE statistics (
  node INTEGER PRIMARY KEY,  -- nodes.id
  name TEXT,               -- of a variable as in the program: dense/kernel; of a constant: FUNCTION/NODE
  kind TEXT,               -- variable, constant
  layer TEXT,              -- layers.name; NULL: in no layer
  dtype TEXT,
  shape TEXT,              -- [2,3]
  elements INTEGER,        -- NULL: unknown
  min REAL,                -- of the finite elements, like max, mean and deviation; NULL: none is known
  max REAL,
  mean REAL,
  deviation REAL,          -- the standard deviation
  nan INTEGER,             -- NaN elements; NULL, like infinite and zeros: no real numbers, or unknown
  infinite INTEGER,
  zeros INTEGER,
  hash TEXT,               -- as `git diff` shows it after git-setup; NULL: the value is unknown
  problem TEXT             -- why the value is unknown; NULL: it is known
);

-- Outputs of nodes: inferred types plus those in the file, in functions also those of the callers' arguments.
CREATE TABLE outputs (
  node INTEGER,            -- nodes.id
  output INTEGER,
  dtype TEXT,              -- NULL: unknown
  shape TEXT,              -- [2,?,3]; []: a scalar; ?: unknown rank
  rank INTEGER,            -- NULL: unknown
  bytes INTEGER            -- NULL: unknown, or the shape does not determine the size for this dtype
);

-- The cost of one run of a node, a call including its function. Lower bounds where `open` is not 0.
CREATE TABLE costs (
  node INTEGER PRIMARY KEY,  -- nodes.id
  layer TEXT,              -- layers.name; NULL: in no layer
  flops INTEGER,           -- a multiply-add counts as two
  bytes INTEGER,           -- of the tensors that it creates
  peak_bytes INTEGER,      -- of created tensors, held at one time
  open INTEGER             -- number of parts not counted: unknown shapes, iterations beyond the first of loops without a known number of them, functions that run an unknown number of times
);

-- The cost of one run of the main graph and of each function, including calls.
CREATE TABLE bodies (
  function TEXT,           -- NULL: the main graph
  runs INTEGER,            -- in one run of the main graph; NULL: depends on a branch or a loop
  flops INTEGER,
  bytes INTEGER,
  peak_bytes INTEGER,      -- in the order of `run`; without constants, variables and arguments
  open INTEGER
);

-- The layers of the model, in its order; a nested model comes before its layers.
CREATE TABLE layers (
  name TEXT PRIMARY KEY,   -- with the names of the models around it: encoder/conv
  class TEXT,              -- Conv2D; NULL: the file does not say
  parameters INTEGER,      -- elements of its variables, with those of its layers
  flops INTEGER,           -- of one run, with those of its layers; a batch of unknown size counts as 1; NULL: no signature is the default
  shape TEXT,              -- of its first output; NULL: unknown
  parent TEXT              -- layers.name of the nested model that contains it; NULL: the model itself
);

-- Name scopes, except those whose nodes are all in a single inner scope.
CREATE TABLE scopes (
  scope TEXT,              -- '' is the whole body
  function TEXT,           -- NULL: the main graph
  nodes INTEGER,           -- at any depth
  hash TEXT                -- of ops, attributes, edges, dtypes and shapes of constants; ignores names and values
);

-- The function library.
CREATE TABLE functions (
  name TEXT PRIMARY KEY,
  nodes INTEGER,           -- without arguments and results
  arguments INTEGER,
  results INTEGER,
  python_name TEXT,        -- of the traced Python function, or of the part of an op
  number INTEGER,          -- of the trace; NULL: the name has none
  role TEXT,               -- trace, forward, backward, body, cond, branch, dataset function, signature, restored, saver, gradient, eager op, function
  part TEXT,               -- its op and place, if it is part of one: body of While 'while' in f 97; else NULL
  status TEXT,             -- entry: called from outside of the graph; called; dataset, eager: run by these; superseded: its forward function or a later trace runs instead; unused
  partner TEXT,            -- the backward function of a forward function, and vice versa
  trace TEXT,              -- the function that these two are derived from
  argument_types TEXT,     -- x float[4,8], lr float[]
  constants TEXT,          -- Python values that are arguments, or have other values, in other traces: lr = 0.5, a constant (mul/x)
  callers INTEGER,         -- number of functions that call it, including the main graph
  bytes INTEGER,           -- in the file
  hash TEXT                -- of the body: ops, attributes, edges and values of constants; ignores names and shapes of arguments
);

-- Nodes that call a function, by their op or by an attribute.
CREATE TABLE calls (
  node INTEGER,            -- nodes.id
  function TEXT
);

-- Source locations of nodes (GraphDef.debug_info).
CREATE TABLE lines (
  node INTEGER,            -- nodes.id
  depth INTEGER,           -- 0: the line itself; 1: the call around it, and so on
  file TEXT,
  line INTEGER,
  function TEXT,           -- of the program; NULL: unknown
  is_users INTEGER         -- 0: in TensorFlow, Keras or Python's library
);

-- The number of nodes that request each device.
CREATE VIEW devices AS SELECT device, count(*) AS nodes FROM nodes WHERE device IS NOT NULL GROUP BY device;

-- Every rewrite of a ledger (--ledger).
CREATE TABLE rewrites (
  number INTEGER PRIMARY KEY,
  iteration INTEGER,
  pass TEXT,
  rule TEXT,
  function TEXT,           -- NULL: the main graph
  node TEXT                -- the node that the rule matched; NULL: the whole body
);

-- The nodes of each rewrite, by name: they may have been removed.
CREATE TABLE rewrite_nodes (
  rewrite INTEGER,         -- rewrites.number
  role TEXT,               -- used, made, changed or removed
  node TEXT
);

-- Passes with at least one rewrite.
CREATE VIEW passes AS SELECT pass, count(*) AS rewrites, count(DISTINCT rule) AS rules FROM rewrites GROUP BY pass;
)";

constexpr const char kIndexes[] =
    "CREATE INDEX nodes_by_name ON nodes(name); CREATE INDEX nodes_by_op ON nodes(op);"
    "CREATE INDEX edges_by_source ON edges(source); CREATE INDEX edges_by_target ON edges(target);"
    "CREATE INDEX outputs_by_node ON outputs(node); CREATE INDEX scopes_by_hash ON scopes(hash);"
    "CREATE INDEX lines_by_node ON lines(node); CREATE INDEX lines_by_line ON lines(file, line);"
    "CREATE INDEX attributes_by_node ON attributes(node, name);"
    "CREATE INDEX rewrite_nodes_by_node ON rewrite_nodes(node);";

RowCell Text(llvm::StringRef text) { return text; }
RowCell TextOrNull(llvm::StringRef text) { return text.empty() ? RowCell() : RowCell(text); }
RowCell Number(int64_t number) { return number; }
RowCell KindOf(const ValueRow& row) { return Text(row.is_variable ? "variable" : "constant"); }

std::string HashText(uint64_t hash) { return llvm::formatv("{0:x-16}", hash).str(); }

// The functions that receive each table's rows; null if the caller did not request the table.
struct RowSinks {
  RowSink nodes, edges, attributes, constants, statistics, outputs, costs, bodies, layers, scopes,
      functions, calls, lines;
};
struct TableOfGraph {
  const char* name;
  RowSink RowSinks::*sink;
  const char* insert;
};
constexpr TableOfGraph kTables[] = {
    {"nodes", &RowSinks::nodes, "INSERT INTO nodes VALUES(?,?,?,?,?,?,?,?,?,?)"},
    {"edges", &RowSinks::edges, "INSERT INTO edges VALUES(?,?,?,?,?)"},
    {"attributes", &RowSinks::attributes, "INSERT INTO attributes VALUES(?,?,?)"},
    {"constants", &RowSinks::constants, "INSERT INTO constants VALUES(?,?,?,?,?)"},
    {"statistics", &RowSinks::statistics,
     "INSERT INTO statistics VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
    {"outputs", &RowSinks::outputs, "INSERT INTO outputs VALUES(?,?,?,?,?,?)"},
    {"costs", &RowSinks::costs, "INSERT INTO costs VALUES(?,?,?,?,?,?)"},
    {"bodies", &RowSinks::bodies, "INSERT INTO bodies VALUES(?,?,?,?,?,?)"},
    {"layers", &RowSinks::layers, "INSERT OR IGNORE INTO layers VALUES(?,?,?,?,?,?)"},
    {"scopes", &RowSinks::scopes, "INSERT INTO scopes VALUES(?,?,?,?)"},
    {"functions", &RowSinks::functions,
     "INSERT OR IGNORE INTO functions VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
    {"calls", &RowSinks::calls, "INSERT INTO calls VALUES(?,?)"},
    {"lines", &RowSinks::lines, "INSERT INTO lines VALUES(?,?,?,?,?,?)"},
};

class Tables {
 public:
  Tables(const Module& module, const LineTable& lines, const TableSources& sources, RowSinks sinks)
      : module_(module), lines_(lines), sources_(sources), rows_(std::move(sinks)) {
    bool needs_layers = rows_.nodes || rows_.costs || rows_.layers;
    if (sources.layers && needs_layers) layers_ = sources.layers();
    if (!rows_.outputs && !rows_.costs && !rows_.bodies) return;
    shapes_ = std::make_unique<ModuleShapes>(module);
    if (!rows_.costs && !rows_.bodies) return;
    costs_of_ = std::make_unique<ModuleCosts>(module, *shapes_);
    runs_ = costs_of_->Runs();
  }

  Error AddAll() {
    RETURN_IF_ERROR(Add(module_.main, {}));
    for (const auto& function : module_.functions)
      RETURN_IF_ERROR(Add(function->body, function->name()));
    if (rows_.statistics) RETURN_IF_ERROR(AddStatistics());
    if (rows_.functions) RETURN_IF_ERROR(AddFunctions());
    if (rows_.layers) RETURN_IF_ERROR(AddLayers());
    return rows_.scopes ? AddScopes() : Error::success();
  }

 private:
  Error Add(const Graph& graph, llvm::StringRef function) {
    first_ids_[&graph] = first_id_;
    for (Node node : graph.nodes()) {
      if (rows_.outputs) RETURN_IF_ERROR(AddOutputs(node, shapes_->Of(graph)));
      if (rows_.costs) RETURN_IF_ERROR(AddCost(node));
      if (rows_.nodes) RETURN_IF_ERROR(AddNode(node, function));
      if (rows_.edges) RETURN_IF_ERROR(AddEdges(node));
      if (rows_.attributes) RETURN_IF_ERROR(AddAttributes(node));
      if (rows_.lines) RETURN_IF_ERROR(AddLines(node, function));
      if (rows_.constants && node.op() == "Const") RETURN_IF_ERROR(AddConstant(node));
      if (rows_.calls && MayCallFunctions(node))
        for (llvm::StringRef callee : CalledFunctions(node))
          RETURN_IF_ERROR(rows_.calls({Number(IdOf(node)), Text(callee)}));
    }
    first_id_ += graph.end_id();
    return rows_.bodies ? AddBody(graph, function) : Error::success();
  }

  Error AddBody(const Graph& graph, llvm::StringRef function) {
    const RunCost& cost = costs_of_->OfBody(graph);
    RowCell runs;
    if (std::optional<int64_t> count = runs_.at(&graph)) runs = Number(*count);
    return rows_.bodies({TextOrNull(function), runs, Number(cost.flops), Number(cost.bytes),
                         Number(cost.peak_bytes), Number(cost.open)});
  }

  Error AddFunctions() {
    FunctionLibrary library = ReadFunctionLibrary(module_, sources_.named_outside);
    for (const LibraryFunction& each : library.functions) {
      auto name_of = [&](int number) {
        return number < 0 ? RowCell() : Text(library.functions[number].function->name());
      };
      std::string part = PartOfText(library, each), arguments = ArgumentsText(each);
      std::vector<std::string> values;
      for (const TraceConstant& constant : each.constants) values.push_back(ConstantText(constant));
      std::string constants = llvm::join(values, "; "), hash = HashText(each.hash);
      RowCell number;
      if (each.name.number) number = Number(*each.name.number);
      RETURN_IF_ERROR(rows_.functions(
          {Text(each.function->name()), Number(static_cast<int64_t>(each.nodes)),
           Number(static_cast<int64_t>(each.arguments.size())),
           Number(static_cast<int64_t>(each.results.size())), Text(each.name.base), number,
           Text(RoleName(each.role)), TextOrNull(part), Text(StatusName(each.status)),
           name_of(each.partner), name_of(each.trace), Text(arguments), TextOrNull(constants),
           Number(static_cast<int64_t>(each.callers.size())),
           Number(static_cast<int64_t>(each.bytes)), Text(hash)}));
    }
    return Error::success();
  }

  Error AddLayers() {
    for (const LayerRow& layer : layers_.rows) {
      RowCell flops;
      if (layer.flops) flops = Number(*layer.flops);
      RETURN_IF_ERROR(
          rows_.layers({Text(layer.name), TextOrNull(layer.class_name), Number(layer.parameters),
                        flops, TextOrNull(layer.shape), TextOrNull(layer.parent)}));
    }
    return Error::success();
  }

  Error AddStatistics() {
    if (!sources_.values) return Error::success();
    for (const ValueRow& row : sources_.values()) {
      std::string shape = row.shape.ToString();
      RowCell elements, min, max, mean, deviation, nan, infinite, zeros;
      if (row.elements() >= 0) elements = Number(row.elements());
      if (const auto& numbers = row.numbers) {
        nan = Number(numbers->nan);
        infinite = Number(numbers->positive_infinite + numbers->negative_infinite);
        zeros = Number(numbers->zero);
        if (numbers->finite() > 0) {
          min = numbers->min, max = numbers->max;
          mean = numbers->mean(), deviation = numbers->deviation();
        }
      }
      RETURN_IF_ERROR(rows_.statistics(
          {Number(first_ids_.lookup(&row.node.graph()) + row.node.id()), Text(row.name),
           KindOf(row), TextOrNull(row.layer), Text(DataTypeName(row.dtype)), Text(shape), elements,
           min, max, mean, deviation, nan, infinite, zeros, TextOrNull(row.hash),
           TextOrNull(row.problem)}));
    }
    return Error::success();
  }

  // Returns the path of the node's layer; "" if it is in none.
  std::string LayerOf(const Node& node) const {
    return layers_.names.empty() ? "" : layers_.names.Of(node);
  }

  Error AddScopes() {
    std::vector<std::vector<ScopeBlock>> bodies = ScopeBlocks(module_);
    for (size_t i = 0; i < bodies.size(); ++i) {
      llvm::StringRef function = i == 0 ? llvm::StringRef() : module_.functions[i - 1]->name();
      for (const ScopeBlock& block : bodies[i])
        RETURN_IF_ERROR(rows_.scopes({Text(block.path), TextOrNull(function), Number(block.nodes),
                                      Text(HashText(block.hash))}));
    }
    return Error::success();
  }

  int64_t IdOf(const Node& node) const { return first_id_ + node.id(); }

  Error AddNode(const Node& node, llvm::StringRef function) {
    llvm::StringRef name = node.name();
    llvm::StringRef scope = name.contains('/') ? name.rsplit('/').first : llvm::StringRef();
    std::string layer = LayerOf(node);
    return rows_.nodes({Number(IdOf(node)), Text(name), Text(node.op()), TextOrNull(function),
                        Text(scope), TextOrNull(layer), TextOrNull(node.device()),
                        Number(node.num_inputs()), Number(node.num_controls()),
                        Number(static_cast<int64_t>(node.uses().size()))});
  }

  Error AddEdges(const Node& node) {
    llvm::SmallVector<DataType, 4> types = InputTypes(node);
    for (int i = 0; i < node.num_inputs() + node.num_controls(); ++i) {
      Port port = node.input(i);
      bool is_data = i < node.num_inputs();
      bool known =
          is_data && static_cast<size_t>(i) < types.size() && types[i] != proto::DT_INVALID;
      RowCell source, output, input, dtype;
      if (port.node != kNoNode) source = Number(first_id_ + port.node);
      if (is_data) input = Number(i);
      if (is_data && port.node != kNoNode) output = Number(port.index);
      if (known) dtype = Text(DataTypeName(types[i]));
      RETURN_IF_ERROR(rows_.edges({source, output, Number(IdOf(node)), input, dtype}));
    }
    return Error::success();
  }

  static llvm::SmallVector<DataType, 4> InputTypes(const Node& node) {
    const OpInfo* info = node.num_inputs() > 0 ? DefinitionOf(node) : nullptr;
    if (!info) return {};
    auto types = TypesOf(node, *info);
    if (types) return types->inputs;
    llvm::consumeError(types.takeError());
    return {};
  }

  Error AddOutputs(const Node& node, const ShapeMap& shapes) {
    int count = std::max(shapes.NumOutputs(node.id()), NumOutputs(node));
    for (int32_t i = 0; i < count; ++i) {
      Port port{node.id(), i};
      DataType type = shapes.TypeOf(port);
      Shape shape = shapes.OfPort(port);
      RowCell dtype, rank, bytes;
      if (type != proto::DT_INVALID) dtype = Text(DataTypeName(type));
      if (shape.known_rank()) rank = Number(shape.rank());
      if (std::optional<int64_t> size = BytesOf(type, shape)) bytes = Number(*size);
      // Replaces symbols, which say that unknown sizes are equal, by unknown sizes: SQL has no use
      // for symbols.
      for (int dim = 0; shape.known_rank() && dim < shape.rank(); ++dim)
        if (!shape.IsKnown(dim)) shape.set_dim(dim, kUnknownDim);
      RETURN_IF_ERROR(rows_.outputs(
          {Number(IdOf(node)), Number(i), dtype, Text(shape.ToString()), rank, bytes}));
    }
    return Error::success();
  }

  Error AddCost(const Node& node) {
    RunCost cost = costs_of_->OfNode(node);
    std::string layer = LayerOf(node);
    return rows_.costs({Number(IdOf(node)), TextOrNull(layer), Number(cost.flops),
                        Number(cost.bytes), Number(cost.peak_bytes), Number(cost.open)});
  }

  Error AddAttributes(const Node& node) {
    for (const auto& [key, value] : node.Attrs())
      RETURN_IF_ERROR(rows_.attributes({Number(IdOf(node)), Text(key), Text(value.ToString())}));
    return Error::success();
  }

  Error AddLines(const Node& node, llvm::StringRef function) {
    if (lines_.empty()) return Error::success();
    LineTable::TraceId trace = lines_.Find(function, node.name());
    LineTable::Stack stack = lines_.StackOf(trace ? trace : lines_.Of(node));
    int depth = 0;
    for (const SourceFrame& frame : llvm::reverse(stack)) {
      RETURN_IF_ERROR(
          rows_.lines({Number(IdOf(node)), Number(depth++), Text(frame.file), Number(frame.line),
                       TextOrNull(frame.function), Number(!IsFrameworkFile(frame.file))}));
    }
    return Error::success();
  }

  // Reads the constant's dtype from its attribute and the shape from its tensor, without parsing
  // the elements.
  Error AddConstant(const Node& node) {
    auto value = node.FindAttr("value");
    auto tensor = value ? value->AsTensor() : std::nullopt;
    RowCell shape, elements;
    std::string shape_text;
    WireReader reader(tensor.value_or(llvm::StringRef()));
    while (reader.Next()) {
      proto::TensorShapeProto proto;
      if (!reader.Is(2, WireType::kBytes) ||
          !proto.ParseFromArray(reader.bytes().data(), static_cast<int>(reader.bytes().size())))
        continue;
      Shape read = Shape::FromProto(proto);
      shape_text = read.ToString();
      shape = Text(shape_text);
      if (auto count = read.NumElements()) elements = Number(*count);
    }
    int64_t bytes = static_cast<int64_t>(tensor.value_or(llvm::StringRef()).size());
    return rows_.constants({Number(IdOf(node)), Text(DataTypeName(node.GetType("dtype"))), shape,
                            elements, Number(bytes)});
  }

  const Module& module_;
  const LineTable& lines_;
  const TableSources& sources_;
  RowSinks rows_;
  QueriedLayers layers_;
  std::unique_ptr<ModuleShapes> shapes_;
  std::unique_ptr<ModuleCosts> costs_of_;
  std::map<const Graph*, std::optional<int64_t>> runs_;
  int64_t first_id_ = 0;
  llvm::DenseMap<const Graph*, int64_t> first_ids_;
};

Error FillTables(const Module& module, const LineTable& lines, llvm::StringRef only_for,
                 const TableSources& sources, Database* database) {
  std::optional<llvm::StringSet<>> wanted;
  if (!only_for.empty()) wanted = database->TablesReadBy(only_for);
  RowSinks sinks;
  for (const TableOfGraph& table : kTables) {
    if (wanted && !wanted->contains(table.name)) continue;
    ASSIGN_OR_RETURN(Database::Insert insert, database->Prepare(table.insert));
    sinks.*
        table.sink = [insert](llvm::ArrayRef<RowCell> cells) mutable { return insert.Row(cells); };
  }
  return Tables(module, lines, sources, std::move(sinks)).AddAll();
}

Error AddRewrite(const Rewrite& rewrite, Database::Insert* rewrites, Database::Insert* nodes) {
  RETURN_IF_ERROR(rewrites->Row({Number(rewrite.number), Number(rewrite.iteration),
                                 TextOrNull(rewrite.pass), TextOrNull(rewrite.rule),
                                 TextOrNull(rewrite.function), TextOrNull(rewrite.node)}));
  for (auto [role, names] :
       {std::pair("used", &rewrite.used), std::pair("made", &rewrite.made),
        std::pair("changed", &rewrite.changed), std::pair("removed", &rewrite.removed)}) {
    for (const std::string& name : *names)
      RETURN_IF_ERROR(nodes->Row({Number(rewrite.number), Text(role), TextOrNull(name)}));
  }
  return Error::success();
}

TableColumn::Type TypeOfColumn(llvm::StringRef sql) {
  if (sql.starts_with("INTEGER")) return TableColumn::Type::kInteger;
  return sql.starts_with("REAL") ? TableColumn::Type::kNumber : TableColumn::Type::kText;
}

}  // namespace

const char* GraphSchema() { return kSchema; }

std::vector<TableColumn> ColumnsOf(llvm::StringRef table) {
  llvm::StringRef rest = kSchema;
  size_t begin = rest.find(("CREATE TABLE " + table + " (\n").str());
  std::vector<TableColumn> columns;
  llvm::SmallVector<llvm::StringRef, 16> lines;
  rest.substr(begin).split("\n);").first.split(lines, '\n');
  for (llvm::StringRef line : llvm::ArrayRef(lines).drop_front()) {
    auto [name, type] = line.trim().split(' ');
    columns.push_back({name.str(), TypeOfColumn(type)});
  }
  return columns;
}

Error ForEachRow(const Module& module, const LineTable& lines, llvm::StringRef name, RowSink sink,
                 const TableSources& sources) {
  RowSinks sinks;
  const auto* table =
      llvm::find_if(kTables, [&](const TableOfGraph& each) { return name == each.name; });
  assert(table != std::end(kTables));
  sinks.*table->sink = std::move(sink);
  return Tables(module, lines, sources, std::move(sinks)).AddAll();
}

Error AddGraph(const Module& module, Database* database, const LineTable& lines,
               llvm::StringRef only_for, const TableSources& sources) {
  RETURN_IF_ERROR(database->Execute(kSchema));
  RETURN_IF_ERROR(database->Execute("BEGIN"));
  RETURN_IF_ERROR(FillTables(module, lines, only_for, sources, database));
  RETURN_IF_ERROR(database->Execute("COMMIT"));
  return database->Execute(kIndexes);
}

Error AddLedger(llvm::StringRef path, Database* database) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  auto ledger = ParseLedger(file->bytes());
  if (!ledger) return Annotate(path, ledger.takeError());
  ASSIGN_OR_RETURN(auto rewrites, database->Prepare("INSERT INTO rewrites VALUES(?,?,?,?,?,?)"));
  ASSIGN_OR_RETURN(auto nodes, database->Prepare("INSERT INTO rewrite_nodes VALUES(?,?,?)"));
  RETURN_IF_ERROR(database->Execute("BEGIN"));
  for (const Rewrite& rewrite : *ledger) RETURN_IF_ERROR(AddRewrite(rewrite, &rewrites, &nodes));
  return database->Execute("COMMIT");
}

}  // namespace grapnel
