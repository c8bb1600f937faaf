#include "lib/query/graph_tables.h"

#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "lib/pass/run_record.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

constexpr const char kSchema[] =
    R"(-- Nodes of the main graph and of every function. Arguments and results of functions are nodes of op _Arg and _Retval.
CREATE TABLE nodes (
  id INTEGER PRIMARY KEY,  -- counts through all bodies, in the file's order
  name TEXT,
  op TEXT,
  function TEXT,           -- whose body it is in; NULL: the main graph
  scope TEXT,              -- the name up to its last /; '' at the top
  device TEXT,             -- NULL: none asked for
  inputs INTEGER,          -- data inputs
  control_inputs INTEGER,
  readers INTEGER          -- inputs of other nodes that read it, control inputs too
);

-- Who reads what.
CREATE TABLE edges (
  source INTEGER,          -- nodes.id; NULL: the input names a node that is not there
  output INTEGER,          -- which output of it; NULL: a control edge
  target INTEGER,          -- nodes.id of the reader
  input INTEGER,           -- which input of it; NULL: a control edge
  dtype TEXT               -- NULL: a control edge, or an op that is not known
);

-- Attributes as they stand on the nodes.
CREATE TABLE attributes (
  node INTEGER,            -- nodes.id
  name TEXT,
  value TEXT               -- as `grapnel opt --print` shows it: float, [1,2,2,1], "SAME"
);

-- Values of Const nodes, which stay in the file.
CREATE TABLE constants (
  node INTEGER PRIMARY KEY,  -- nodes.id
  dtype TEXT,
  shape TEXT,              -- [2,3]
  elements INTEGER,        -- NULL: more than fit in 64 bits
  bytes INTEGER            -- that the file holds for it
);

-- The library.
CREATE TABLE functions (
  name TEXT PRIMARY KEY,
  nodes INTEGER,           -- without arguments and results
  arguments INTEGER,
  results INTEGER
);

-- Which node calls which function, by its op or by an attribute.
CREATE TABLE calls (
  node INTEGER,            -- nodes.id
  function TEXT
);

-- How many nodes ask for each device.
CREATE VIEW devices AS SELECT device, count(*) AS nodes FROM nodes WHERE device IS NOT NULL GROUP BY device;

-- Of a ledger (--ledger): every rewrite.
CREATE TABLE rewrites (
  number INTEGER PRIMARY KEY,
  iteration INTEGER,
  pass TEXT,
  rule TEXT,
  function TEXT,           -- NULL: the main graph
  node TEXT                -- where the rule looked
);

-- The nodes of each rewrite, by name: they may be gone.
CREATE TABLE rewrite_nodes (
  rewrite INTEGER,         -- rewrites.number
  role TEXT,               -- used, made, changed or removed
  node TEXT
);

-- The passes that rewrote something.
CREATE VIEW passes AS SELECT pass, count(*) AS rewrites, count(DISTINCT rule) AS rules FROM rewrites GROUP BY pass;
)";

constexpr const char kIndexes[] =
    "CREATE INDEX nodes_by_name ON nodes(name); CREATE INDEX nodes_by_op ON nodes(op);"
    "CREATE INDEX edges_by_source ON edges(source); CREATE INDEX edges_by_target ON edges(target);"
    "CREATE INDEX attributes_by_node ON attributes(node, name);"
    "CREATE INDEX rewrite_nodes_by_node ON rewrite_nodes(node);";

QueryCell Text(llvm::StringRef text) { return text.str(); }
QueryCell TextOrNull(llvm::StringRef text) {
  return text.empty() ? QueryCell() : QueryCell(text.str());
}
QueryCell Number(int64_t number) { return number; }

class Tables {
 public:
  static Expected<Tables> Create(Database* database) {
    Tables tables(database);
    struct {
      std::optional<Database::Insert>* insert;
      const char* sql;
    } const statements[] = {
        {&tables.nodes_, "INSERT INTO nodes VALUES(?,?,?,?,?,?,?,?,?)"},
        {&tables.edges_, "INSERT INTO edges VALUES(?,?,?,?,?)"},
        {&tables.attributes_, "INSERT INTO attributes VALUES(?,?,?)"},
        {&tables.constants_, "INSERT INTO constants VALUES(?,?,?,?,?)"},
        {&tables.functions_, "INSERT OR IGNORE INTO functions VALUES(?,?,?,?)"},
        {&tables.calls_, "INSERT INTO calls VALUES(?,?)"},
    };
    for (const auto& statement : statements) {
      ASSIGN_OR_RETURN(*statement.insert, database->Prepare(statement.sql));
    }
    return tables;
  }

  Error Add(const Graph& graph, llvm::StringRef function) {
    for (Node node : graph.nodes()) {
      RETURN_IF_ERROR(AddNode(node, function));
      RETURN_IF_ERROR(AddEdges(node));
      RETURN_IF_ERROR(AddAttributes(node));
      if (node.op() == "Const") RETURN_IF_ERROR(AddConstant(node));
      if (MayCallFunctions(node))
        for (llvm::StringRef callee : CalledFunctions(node))
          RETURN_IF_ERROR(calls_->Row({Number(IdOf(node)), Text(callee)}));
    }
    first_id_ += graph.end_id();
    return Error::success();
  }

  Error Add(const Function& function) {
    RETURN_IF_ERROR(Add(function.body, function.name()));
    size_t ends = function.args.size() + function.results.size();
    return functions_->Row({Text(function.name()),
                            Number(static_cast<int64_t>(function.body.num_nodes() - ends)),
                            Number(static_cast<int64_t>(function.args.size())),
                            Number(static_cast<int64_t>(function.results.size()))});
  }

 private:
  explicit Tables(Database*) {}
  int64_t IdOf(const Node& node) const { return first_id_ + node.id(); }

  Error AddNode(const Node& node, llvm::StringRef function) {
    llvm::StringRef name = node.name();
    llvm::StringRef scope = name.contains('/') ? name.rsplit('/').first : llvm::StringRef();
    return nodes_->Row({Number(IdOf(node)), Text(name), Text(node.op()), TextOrNull(function),
                        Text(scope), TextOrNull(node.device()), Number(node.num_inputs()),
                        Number(node.num_controls()),
                        Number(static_cast<int64_t>(node.uses().size()))});
  }

  Error AddEdges(const Node& node) {
    llvm::SmallVector<DataType, 4> types = InputTypes(node);
    for (int i = 0; i < node.num_inputs() + node.num_controls(); ++i) {
      Port port = node.input(i);
      bool is_data = i < node.num_inputs();
      bool known =
          is_data && static_cast<size_t>(i) < types.size() && types[i] != proto::DT_INVALID;
      QueryCell source, output, input, dtype;
      if (port.node != kNoNode) source = Number(first_id_ + port.node);
      if (is_data) input = Number(i);
      if (is_data && port.node != kNoNode) output = Number(port.index);
      if (known) dtype = Text(DataTypeName(types[i]));
      RETURN_IF_ERROR(edges_->Row({source, output, Number(IdOf(node)), input, dtype}));
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

  Error AddAttributes(const Node& node) {
    for (const auto& [key, value] : node.Attrs())
      RETURN_IF_ERROR(attributes_->Row({Number(IdOf(node)), Text(key), Text(value.ToString())}));
    return Error::success();
  }

  // From the head of the tensor: the value is not read.
  Error AddConstant(const Node& node) {
    auto value = node.FindAttr("value");
    auto tensor = value ? value->AsTensor() : std::nullopt;
    QueryCell shape, elements;
    WireReader reader(tensor.value_or(llvm::StringRef()));
    while (reader.Next()) {
      proto::TensorShapeProto proto;
      if (!reader.Is(2, WireType::kBytes) ||
          !proto.ParseFromArray(reader.bytes().data(), static_cast<int>(reader.bytes().size())))
        continue;
      Shape read = Shape::FromProto(proto);
      shape = Text(read.ToString());
      if (auto count = read.NumElements()) elements = Number(*count);
    }
    int64_t bytes = static_cast<int64_t>(tensor.value_or(llvm::StringRef()).size());
    return constants_->Row({Number(IdOf(node)), Text(DataTypeName(node.GetType("dtype"))), shape,
                            elements, Number(bytes)});
  }

  std::optional<Database::Insert> nodes_, edges_, attributes_, constants_, functions_, calls_;
  int64_t first_id_ = 0;
};

Error FillTables(const Module& module, Database* database) {
  ASSIGN_OR_RETURN(Tables tables, Tables::Create(database));
  RETURN_IF_ERROR(tables.Add(module.main, {}));
  for (const auto& function : module.functions) RETURN_IF_ERROR(tables.Add(*function));
  return Error::success();
}

Error AddRewrite(const Rewrite& rewrite, Database::Insert* rewrites, Database::Insert* nodes) {
  auto text = [](const std::string& value) {
    return value.empty() ? QueryCell() : QueryCell(value);
  };
  RETURN_IF_ERROR(
      rewrites->Row({Number(rewrite.number), Number(rewrite.iteration), text(rewrite.pass),
                     text(rewrite.rule), text(rewrite.function), text(rewrite.node)}));
  for (auto [role, names] :
       {std::pair("used", &rewrite.used), std::pair("made", &rewrite.made),
        std::pair("changed", &rewrite.changed), std::pair("removed", &rewrite.removed)}) {
    for (const std::string& name : *names)
      RETURN_IF_ERROR(nodes->Row({Number(rewrite.number), Text(role), text(name)}));
  }
  return Error::success();
}

}  // namespace

const char* GraphSchema() { return kSchema; }

Error AddGraph(const Module& module, Database* database) {
  RETURN_IF_ERROR(database->Execute(kSchema));
  RETURN_IF_ERROR(database->Execute("BEGIN"));
  RETURN_IF_ERROR(FillTables(module, database));
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
