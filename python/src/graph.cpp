// Open graphs: their content as tables, and their runs.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "lib/exec/feed.h"
#include "lib/exec/named_feed.h"
#include "lib/io/signature.h"
#include "lib/job/function_signature.h"
#include "lib/job/graph_path.h"
#include "lib/job/model_layers.h"
#include "lib/job/name_resolver.h"
#include "lib/job/run.h"
#include "lib/job/signature_graph.h"
#include "lib/job/source.h"
#include "lib/job/value_rows.h"
#include "lib/query/graph_tables.h"
#include "lib/query/path_pattern.h"
#include "lib/tfdbg/debug_folder.h"
#include "lib/tfdbg/debug_watch.h"
#include "llvm/ADT/StringExtras.h"
#include "python/src/call.h"
#include "python/src/gil.h"
#include "python/src/table.h"
#include "python/src/values.h"
#include "python/src/work.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

// Work that calls a function, for tasks that need no separate class.
class FunctionWork : public Work {
 public:
  explicit FunctionWork(std::function<Error()> run) : run_(std::move(run)) {}
  CancelFlag cancel;
  std::string error;

 private:
  void Run() override { error = TextOf(run_()); }
  std::function<Error()> run_;
};

// Calls `run` without the GIL. `run` may still be running when Do() returns, so it must not capture
// local variables by reference.
void Do(std::function<Error()> run) {
  auto work = std::make_shared<FunctionWork>(std::move(run));
  work->Do(work, work->cancel, [](Severity, const std::string&) {});
  if (!work->error.empty()) Raise(work->error);
}

// An opened graph, which is never changed.
struct Opened {
  std::shared_ptr<const OpenedGraph> graph;
};

using Texts = nb::typed<nb::list, nb::str>;
using List = nb::typed<nb::list, nb::any>;
using Tell = nb::typed<nb::callable, void(nb::str, nb::str)>;

// The result of opening a file: the model and, if a title names a graph or the file has only one,
// that graph.
struct Found {
  std::shared_ptr<Model> model;
  std::optional<OpenedGraph> graph;
};

nb::typed<nb::tuple, nb::str, Texts, nb::any> Open(const std::string& path,
                                                   const std::string& title) {
  auto found = std::make_shared<Found>();
  Do([found, path, title]() -> Error {
    ASSIGN_OR_RETURN(GraphPath named, ReadGraphPath(path, title, "graph="));
    ASSIGN_OR_RETURN(Model model, OpenModel(named.path));
    found->model = std::make_shared<Model>(std::move(model));
    if (named.title.empty() && found->model->graphs.size() > 1) return Error::success();
    ASSIGN_OR_RETURN(found->graph, OpenedGraph::Of(found->model, named.title, "graph="));
    return Error::success();
  });
  nb::list titles;
  for (const GraphInFile& graph : found->model->graphs) titles.append(graph.title);
  nb::object opened = nb::none();
  llvm::StringRef kind = FileKindName(found->model->kind);
  if (found->graph) {
    kind = FileKindName(found->graph->model().kind);
    opened = nb::cast(Opened{std::make_shared<const OpenedGraph>(std::move(*found->graph))});
  }
  return nb::make_tuple(nb::str(kind.data(), kind.size()), titles, opened);
}

// Returns the network of the graph's default signature; the graph itself if there is no such
// signature, or if its network cannot be extracted.
Opened NetworkOf(const Opened& opened) {
  auto network = std::make_shared<Opened>(opened);
  Do([network]() -> Error {
    if (!DefaultSignature(network->graph->file())) return Error::success();
    OpenedGraph part = network->graph->Copy();
    if (Error error = TakeNetwork({}, &part).takeError())
      llvm::consumeError(std::move(error));
    else
      network->graph = std::make_shared<const OpenedGraph>(std::move(part));
    return Error::success();
  });
  return *network;
}

// `graph` must outlive the sources.
TableSources SourcesOf(const OpenedGraph& graph) {
  TableSources sources;
  sources.layers = [&] { return QueriedLayers{LayerNames(graph.file()), LayerRowsOf(graph)}; };
  sources.values = [&] {
    ThreadPool pool;
    return ValueRowsOf(graph, pool);
  };
  return sources;
}

Column::Type TypeOf(const TableColumn& column) {
  switch (column.type) {
    case TableColumn::Type::kInteger:
      return Column::Type::kInteger;
    case TableColumn::Type::kNumber:
      return Column::Type::kNumber;
    case TableColumn::Type::kText:
      break;
  }
  return Column::Type::kText;
}

std::shared_ptr<Table> TableNamed(const Opened& opened, const std::string& name) {
  std::vector<Column> columns;
  for (const TableColumn& column : ColumnsOf(name))
    columns.emplace_back(column.name, TypeOf(column));
  auto table = std::make_shared<Table>(std::move(columns));
  // Most tables have at least one row per node.
  table->Reserve(opened.graph->module().main.num_nodes());
  Do([table, name, graph = opened.graph] {
    return ForEachRow(
        graph->module(), name == "lines" ? LinesOf(*graph) : LineTable(), name,
        [&](llvm::ArrayRef<RowCell> cells) {
          table->AddRow(cells);
          return Error::success();
        },
        SourcesOf(*graph));
  });
  return table;
}

std::shared_ptr<Table> Query(const Opened& opened, const std::string& sql) {
  auto result = std::make_shared<QueryResult>();
  Do([result, sql, graph = opened.graph]() -> Error {
    ASSIGN_OR_RETURN(Database database, Database::Create());
    RETURN_IF_ERROR(AddGraph(graph->module(), &database, LinesOf(*graph), sql, SourcesOf(*graph)));
    database.ForbidWrites();
    ASSIGN_OR_RETURN(*result, database.Query(sql));
    return Error::success();
  });
  return std::make_shared<Table>(Table::Of(*result));
}

std::shared_ptr<Table> Find(const Opened& opened, const std::string& chain, size_t limit) {
  auto result = std::make_shared<QueryResult>();
  Do([result, chain, limit, graph = opened.graph]() -> Error {
    ASSIGN_OR_RETURN(*result, FindPathRows(graph->module(), chain, limit));
    return Error::success();
  });
  std::vector<Column> columns;
  for (const std::string& name : result->columns) columns.emplace_back(name, Column::Type::kText);
  auto table = std::make_shared<Table>(std::move(columns));
  for (const auto& row : result->rows) table->AddRow(row);
  return table;
}

// Returns TensorFlow's name of the dtype that a feed must have; nullopt if the graph does not
// define it. `function`: the function that runs instead of a signature, or "".
std::optional<std::string> TypeOfFeedNamed(const Opened& opened, const std::string& name,
                                           const std::string& signature,
                                           const std::string& function) {
  std::optional<OpenedGraph> with_function;
  if (!function.empty()) {
    with_function.emplace(opened.graph->Copy());
    if (Error error = UseFunction(function, &*with_function).takeError())
      Raise(TextOf(std::move(error)));
  }
  const OpenedGraph& graph = with_function ? *with_function : *opened.graph;
  auto tensor = NameResolver(graph, signature).MainTensor(name);
  if (!tensor) Raise(TextOf(tensor.takeError()));
  auto type = TypeOfFeed(graph.module().main, *tensor);
  if (!type) Raise(graph.model().path + ": " + TextOf(type.takeError()));
  if (*type == proto::DT_INVALID) return std::nullopt;
  return DataTypeName(*type).str();
}

// A graph that is compiled once for some feeds and fetches and can then run repeatedly, one run at
// a time. Variables keep their values between runs.
class Runner {
 public:
  struct Made {
    explicit Made(std::shared_ptr<const OpenedGraph> opened, int threads)
        : graph(std::move(opened)), pool(threads) {}
    std::shared_ptr<const OpenedGraph> graph;
    ThreadPool pool;
    CancelFlag cancel;
    std::optional<RunJob> job;
    std::mutex mutex;      // held during a run
    Work* told = nullptr;  // the run that receives the job's messages
  };

  Runner(const Opened& opened, std::vector<std::string> feeds, std::vector<std::string> fetches,
         std::string signature, int threads)
      : graph_(opened.graph),
        feeds_(std::move(feeds)),
        fetches_(std::move(fetches)),
        signature_(std::move(signature)),
        threads_(threads) {}

  // `values`: a tuple as for TensorOf() per feed, in the order of the feeds. Returns [(name,
  // value)] of the fetches.
  List Run(const List& values, const Tell& tell);

 private:
  class RunWork;
  Error Make(Made& made, const std::vector<Tensor>& values) const;

  std::shared_ptr<const OpenedGraph> graph_;
  std::vector<std::string> feeds_, fetches_;
  std::string signature_;
  int threads_;
  std::shared_ptr<Made> made_;
};

Error Runner::Make(Made& made, const std::vector<Tensor>& values) const {
  RunRequest request;
  std::vector<std::unique_ptr<NamedFeed>> named;
  for (size_t i = 0; i < feeds_.size(); ++i) {
    std::string name = llvm::formatv("<value {0} of {1}>", i, &made).str();
    named.push_back(std::make_unique<NamedFeed>(name, values[i]));
    request.feeds.push_back({feeds_[i], name, Tensor()});
  }
  request.fetches = fetches_;
  request.signature = signature_;
  request.pool = &made.pool;
  request.cancel = &made.cancel;
  request.words.fetches = "by fetch=";
  request.sink = request.print = [&made](Severity severity, llvm::StringRef text) {
    made.told->AddMessage(severity, text);
  };
  ASSIGN_OR_RETURN(RunJob job, RunJob::MakeApart(*graph_, std::move(request)));
  made.job.emplace(std::move(job));
  return made.job->Prepare();
}

class Runner::RunWork : public Work {
 public:
  RunWork(const Runner& runner, std::shared_ptr<Made> made, std::vector<Tensor> values)
      : runner_(runner), made_(std::move(made)), values_(std::move(values)) {}

  std::vector<Tensor> outputs;
  std::string error;

 private:
  void Run() override {
    std::lock_guard lock(made_->mutex);
    made_->told = this;
    error = TextOf(RunOnce());
  }
  Error RunOnce() {
    if (!made_->job) {
      if (Error failed = runner_.Make(*made_, values_)) {
        made_->job.reset();
        return failed;
      }
    }
    RunJob& job = *made_->job;
    std::vector<Tensor> values = job.feed_values();  // a case may add feeds
    for (size_t i = 0; i < values_.size(); ++i) {
      ASSIGN_OR_RETURN(values[i], FeedOf(job.feeds()[i], values[i].dtype(), values_[i]));
    }
    ASSIGN_OR_RETURN(outputs, job.Run(std::move(values)));
    return Error::success();
  }

  const Runner runner_;  // a copy, because the work may outlive the original
  std::shared_ptr<Made> made_;
  std::vector<Tensor> values_;
};

List Runner::Run(const List& given, const Tell& tell) {
  std::vector<Tensor> values;
  for (nb::handle value : given) values.push_back(TensorOf(nb::cast<nb::tuple>(value)));
  // After an interrupted run, which may still be running, a new state is made.
  if (!made_ || made_->cancel.is_set()) made_ = std::make_shared<Made>(graph_, threads_);
  auto made = made_;
  auto work = std::make_shared<RunWork>(*this, made, std::move(values));
  work->Do(work, made->cancel, [&](Severity severity, const std::string& text) {
    tell(severity == Severity::kWarning ? "warning" : "info", text);
  });
  const std::string& path = graph_->model().path;
  if (!work->error.empty())  // some errors already name the file
    Raise(llvm::StringRef(work->error).starts_with(path) ? work->error : path + ": " + work->error);
  nb::list outputs;
  for (size_t i = 0; i < work->outputs.size(); ++i)
    if (work->outputs[i])
      outputs.append(
          nb::make_tuple(made->job->fetch_names()[i], ValueOf(std::move(work->outputs[i]))));
  return outputs;
}

List SignaturesOf(const Opened& opened) {
  auto tensors = [](llvm::ArrayRef<SignatureTensor> given) {
    nb::dict made;
    for (const SignatureTensor& tensor : given)
      made[tensor.key.c_str()] =
          nb::make_tuple(tensor.tensor, DataTypeName(tensor.dtype).str(), tensor.shape.ToString());
    return made;
  };
  nb::list signatures;
  for (const Signature& signature : opened.graph->file().signatures)
    signatures.append(
        nb::make_tuple(signature.name, tensors(signature.inputs), tensors(signature.outputs)));
  return signatures;
}

// Returns the problems found while reading the file, such as a truncated file or a node without a
// name.
Texts ProblemsOf(const Opened& opened) {
  nb::list texts;
  const Model& model = opened.graph->model();
  for (const auto* problems : {&model.problems, &opened.graph->module().problems})
    for (const Problem& problem : *problems)
      texts.append(nb::str((model.path + ": " + problem.ToString()).c_str()));
  return texts;
}

bool HasNewBad(DebugWatch& watch) {
  auto found = [&] {
    ReleasedGil released;
    return watch.HasNewBad();
  }();
  if (!found) Raise(TextOf(found.takeError()));
  return *found;
}

}  // namespace

void AddGraphs(nb::module_& module) {
  module.def("open", Open, nb::arg("path"), nb::arg("graph"));
  module.def("is_debug_folder", [](const std::string& path) { return IsDebugFolder(path); });
  nb::class_<DebugWatch>(module, "DebugWatch")
      .def(nb::init<std::string>(), nb::arg("folder"))
      .def("has_new_bad", HasNewBad);
  nb::class_<Opened>(module, "Opened")
      .def("network", NetworkOf)
      .def("table", TableNamed, nb::arg("name"))
      .def("query", Query, nb::arg("sql"))
      .def("find", Find, nb::arg("chain"), nb::arg("limit"))
      .def("type_of_feed", TypeOfFeedNamed, nb::arg("name"), nb::arg("signature"),
           nb::arg("function") = "")
      .def_prop_ro("signatures", SignaturesOf)
      .def_prop_ro("problems", ProblemsOf)
      .def_prop_ro("note", [](const Opened& self) { return self.graph->note(); })
      .def_prop_ro("num_nodes",
                   [](const Opened& self) { return self.graph->module().main.num_nodes(); })
      .def_prop_ro("num_functions",
                   [](const Opened& self) { return self.graph->module().functions.size(); });
  nb::class_<Runner>(module, "Runner")
      .def(nb::init<const Opened&, std::vector<std::string>, std::vector<std::string>, std::string,
                    int>())
      .def("run", &Runner::Run, nb::arg("values"), nb::arg("tell"));
}

}  // namespace grapnel::python
