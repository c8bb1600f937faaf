#include "lib/job/frozen_tables.h"

#include <set>

#include "lib/exec/executor.h"
#include "lib/exec/saved_state.h"
#include "lib/ir/attr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// True for ops that create a lookup table which the session stores under a name. "HashTableV2"
// outputs a resource handle, "HashTable" a reference.
bool IsTable(const Node& node) {
  llvm::StringRef op = node.op();
  op.consume_back("V2");
  return llvm::StringSwitch<bool>(op)
      .Cases("HashTable", "MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable",
             true)
      .Default(false);
}

bool Fills(const Node& node) {
  llvm::StringRef op = node.op();
  op.consume_back("V2");
  return llvm::StringSwitch<bool>(op)
      .Cases("InitializeTable", "InitializeTableFromTextFile", "LookupTableImport", true)
      .Default(false);
}

// Returns the table's name in the session; "" for a table that a function creates without a
// shared_name, since nodes outside the function cannot refer to it.
std::string TableName(const Node& table, bool is_in_function) {
  std::string name = table.GetString("shared_name");
  if (name.empty() && !is_in_function) name = table.name().str();
  std::string container = table.GetString("container");
  return container.empty() || name.empty() ? name : container + "/" + name;
}

// Returns one node for each table with a name in the session. Leaves out dense tables that a
// function creates: their inputs, the empty and the deleted key, are not available in the main
// graph.
std::vector<Node> TablesOf(const Module& module) {
  std::vector<Node> tables;
  std::set<std::string> names;
  auto add = [&](const Node& node, bool is_in_function) {
    if (!IsTable(node) || (is_in_function && node.num_inputs() > 0)) return;
    std::string name = TableName(node, is_in_function);
    if (!name.empty() && names.insert(name).second) tables.push_back(node);
  };
  for (Node node : module.main.nodes()) add(node, false);
  for (const auto& function : module.functions) {
    for (Node node : function->body.nodes()) add(node, true);
  }
  return tables;
}

bool FillsByItself(const Module& module) {
  auto fills = [](const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (Fills(node)) return true;
    }
    return false;
  };
  return fills(module.main) ||
         llvm::any_of(module.functions, [&](const auto& one) { return fills(one->body); });
}

// Returns a node of `main` for the table: the one with this name or, if a function creates the
// table, a new copy of the function's node.
Node InMain(Graph& main, const Node& table) {
  if (!table.graph().function()) {
    if (Node same = main.Find(table.name())) return same;
  }
  NodeId id = main.AddNode(main.UniqueName(table.name()), table.op(), table.device());
  main.CopyAttrs(id, table);
  return main.node(id);
}

// Returns the op "LookupTableImport" or "LookupTableExport", with "V2" if the table's op has it.
std::string OpFor(const Node& table, llvm::StringRef what) {
  return ("LookupTable" + what + (table.op().ends_with("V2") ? "V2" : "")).str();
}

NodeId AddConst(Graph& graph, const std::string& name, const Node& like, const Literal& value) {
  NodeId id = graph.AddNode(graph.UniqueName(name), "Const", like.device());
  graph.SetAttr(id, "dtype", attr::Type(value.dtype()));
  llvm::StringRef content;
  std::string tensor = value.TensorProtoHead(/*compress=*/false, &content);
  graph.SetAttr(id, "value", {attr::TensorHead(tensor.size() + content.size()), tensor, content});
  return id;
}

// Returns the keys and values of the table in the session.
Expected<std::vector<Tensor>> TableContent(Graph& main, const Node& table, Session& session,
                                           ThreadPool& pool) {
  NodeId id =
      main.AddNode(main.UniqueName((table.name() + "/export").str()), OpFor(table, "Export"));
  main.AddInput(id, {table.id(), 0});
  main.SetAttr(id, "Tkeys", attr::Type(table.GetType("key_dtype")));
  main.SetAttr(id, "Tvalues", attr::Type(table.GetType("value_dtype")));
  ExecutorOptions options;
  options.pool = &pool;
  options.session = &session;
  for (const char* output : {":0", ":1"})
    options.fetches.push_back((main.node(id).name() + output).str());
  ASSIGN_OR_RETURN(auto executor, Executor::Compile(main, options));
  return executor->Run({});
}

NodeId AddImport(Graph& main, const Node& table, const Literal& keys, const Literal& values) {
  std::string name = (table.name() + "/import").str();
  NodeId constants[] = {AddConst(main, name + "/keys", table, keys),
                        AddConst(main, name + "/values", table, values)};
  NodeId import = main.AddNode(main.UniqueName(name), OpFor(table, "Import"), table.device());
  main.AddInput(import, {table.id(), 0});
  for (NodeId constant : constants) main.AddInput(import, {constant, 0});
  main.SetAttr(import, "Tin", attr::Type(keys.dtype()));
  main.SetAttr(import, "Tout", attr::Type(values.dtype()));
  return import;
}

}  // namespace

bool HasTables(const Module& module) { return !TablesOf(module).empty(); }

Error FreezeTables(Module& frozen, OpenedGraph& whole, Session& session, ThreadPool& pool) {
  Graph& main = frozen.main;
  // The file may have an initializer that fills a table with no entries. Such a table needs an
  // empty import, unless nodes of the frozen graph fill its tables themselves.
  bool fills_empty = !InitOpOf(whole.file()).empty() && !FillsByItself(frozen);
  std::vector<NodeId> imports;
  for (const Node& table : TablesOf(frozen)) {
    Node in_whole = InMain(whole.module().main, table);
    auto content = TableContent(whole.module().main, in_whole, session, pool);
    if (!content)
      return Annotate(llvm::formatv("table '{0}'", table.name()).str(), content.takeError());
    Literal keys = (*content)[0].ToLiteral(), values = (*content)[1].ToLiteral();
    bool is_mutable = table.op().starts_with("Mutable");
    if ((*content)[0].num_elements() == 0 && (is_mutable || !fills_empty)) continue;
    imports.push_back(AddImport(main, InMain(main, table), keys, values));
  }
  if (imports.empty()) return Error::success();
  Node existing = main.Find(kTableInit);
  NodeId init = existing ? existing.id() : main.AddNode(kTableInit, "NoOp");
  for (NodeId import : imports) main.AddControl(init, import);
  return Error::success();
}

}  // namespace grapnel
