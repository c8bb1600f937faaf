#include "lib/serve/work/run_table.h"

#include "lib/check/comparison.h"
#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/render/labels.h"
#include "lib/serve/work/run_json.h"

namespace grapnel {
namespace {

constexpr size_t kMostPrinted = 1000;  // lines

// What the case has for a fetch against what came; "" when it has nothing.
std::string CompareWithCase(const PageRun& run, size_t fetch, const Tensor& value) {
  const auto& values = run.opened->model().case_info;
  if (!values || !value || value.HoldsObjects()) return "";
  for (const Case::Fetch& known : values->fetches) {
    if (known.tensor != run.request.fetches[fetch]) continue;
    auto expected = LoadNpyLiteral(known.file, value.dtype());
    if (!expected) return "cannot be compared with the case: " + TextOf(expected.takeError());
    Comparison comparison = Compare(value.ToLiteral(), *expected, values->rtol, known.atol);
    return comparison.same ? "as the case expects"
                           : "not as the case expects: " + comparison.message;
  }
  return "";
}

bool AllFedByCase(const PageRunRequest& request) {
  return llvm::all_of(request.feeds,
                      [](const PageRunRequest::Feed& f) { return f.kind == "case"; });
}

Expected<std::vector<Tensor>> Execute(PageRun& run, const UploadFinder& find) {
  const OpenedGraph& opened = *run.opened;
  RETURN_IF_ERROR(DemandValid(opened, nullptr));  // before a feed is made for it
  ASSIGN_OR_RETURN(RunRequest request, MakeRunRequest(opened, run.request, find));
  request.print = [&run](Severity, llvm::StringRef text) {
    std::lock_guard lock(run.mutex);
    if (run.printed.size() < kMostPrinted) run.printed.push_back(text.str());
  };
  request.watch = &run.watch;
  request.profiler = &run.profile;
  ASSIGN_OR_RETURN(RunJob made, RunJob::MakeApart(opened, std::move(request)));
  auto owned = std::make_unique<RunJob>(std::move(made));
  RunJob& job = *owned;
  bool is_spread = job.runs_copy();
  if (is_spread) run.spread = std::move(owned);
  RETURN_IF_ERROR(job.Prepare());
  {
    std::lock_guard lock(run.mutex);
    run.nodes = is_spread ? static_cast<int>(run.watch.main_nodes_planned()) : job.num_nodes();
  }
  return job.Run();
}

void ExecuteAndTell(PageRun& run, const UploadFinder& find) {
  auto values = Execute(run, find);
  std::vector<std::string> compared;
  for (size_t i = 0; values && i < values->size(); ++i)
    compared.push_back(AllFedByCase(run.request) ? CompareWithCase(run, i, (*values)[i]) : "");
  std::lock_guard lock(run.mutex);
  run.ended = PageRun::Clock::now();
  if (values) {
    run.values = std::move(*values);
    run.compared = std::move(compared);
    run.state = PageRun::State::kDone;
    return;
  }
  run.error = TextOf(values.takeError());
  run.state = run.watch.is_stopped() ? PageRun::State::kStopped : PageRun::State::kFailed;
}

bool IsOver(const PageRun& run) {
  std::lock_guard lock(run.mutex);
  return run.state != PageRun::State::kRunning;
}

}  // namespace

RunTable::RunTable() = default;

RunTable::~RunTable() {
  if (run_) run_->watch.Stop();
  if (thread_.joinable()) thread_.join();
}

Expected<std::string> RunTable::KeepFile(llvm::StringRef bytes) {
  auto file = FileBytes::FromString(bytes.str(), "the file");
  ASSIGN_OR_RETURN(Literal literal, ReadNpyLiteral(file));
  std::lock_guard lock(mutex_);
  files_[++last_file_] = file;
  file_bytes_ += bytes.size();
  while (file_bytes_ > kMostUploaded) {
    file_bytes_ -= files_.begin()->second->bytes().size();
    files_.erase(files_.begin());
  }
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("file", last_file_);
      json.attribute("type", DataTypeName(literal.dtype()).str() + DimsText(literal.dims()));
    });
  });
}

Expected<std::shared_ptr<const FileBytes>> RunTable::FindFile(uint64_t file) const {
  std::lock_guard lock(mutex_);
  auto found = files_.find(file);
  if (found == files_.end()) return MakeError("its file is not here any more: choose it again");
  return found->second;
}

Expected<std::string> RunTable::Start(std::shared_ptr<const OpenedGraph> opened,
                                      llvm::StringRef text) {
  ASSIGN_OR_RETURN(PageRunRequest request, ParsePageRunRequest(text));
  if (Error error = DemandTapped(opened->module(), request.taps))
    return Annotate("taps", std::move(error));
  std::lock_guard lock(mutex_);
  if (run_ && !IsOver(*run_)) return MakeError("a graph is running: stop it, or wait for its end");
  if (thread_.joinable()) thread_.join();
  run_ = std::make_shared<PageRun>(++last_run_, std::move(opened), std::move(request));
  thread_ = std::thread([this, run = run_] {
    ExecuteAndTell(*run, [this](uint64_t file) { return FindFile(file); });
  });
  return PageDocument(
      [&](llvm::json::OStream& json) { json.object([&] { json.attribute("run", last_run_); }); });
}

Expected<std::shared_ptr<PageRun>> RunTable::Find(uint64_t run) const {
  std::lock_guard lock(mutex_);
  if (!run_ || run_->number != run)
    return MakeError("run {0} is not kept: there is only the last one", run);
  return run_;
}

Expected<std::string> RunTable::Stop(uint64_t number) {
  ASSIGN_OR_RETURN(auto run, Find(number));
  run->watch.Stop();
  return RunStatusJson(*run);
}

Expected<std::string> RunTable::StatusJson(uint64_t number) const {
  ASSIGN_OR_RETURN(auto run, Find(number));
  return RunStatusJson(*run);
}

Expected<std::string> RunTable::TensorsJson(uint64_t number, size_t from) const {
  ASSIGN_OR_RETURN(auto run, Find(number));
  return RunTensorsJson(*run, from, kTappedAPage);
}

Expected<std::shared_ptr<PageRun>> RunTable::FindOver(uint64_t number) const {
  ASSIGN_OR_RETURN(auto run, Find(number));
  if (!IsOver(*run)) return MakeError("run {0} is not over", number);
  return run;
}

Expected<std::string> RunTable::BoxesJson(uint64_t number, GraphPage& page) const {
  ASSIGN_OR_RETURN(auto run, FindOver(number));
  if (&page.graph(0) != &run->opened->module().main)
    return MakeError("run {0} was of another graph", number);
  return RunBoxesJson(*run, page);
}

Expected<std::string> RunTable::NodeJson(uint64_t number, GraphPage& page, size_t body,
                                         NodeId node) const {
  ASSIGN_OR_RETURN(auto run, FindOver(number));
  if (body >= page.num_bodies()) return MakeError("there is no body {0}", body);
  return RunNodeJson(*run, page.graph(body), node);
}

Expected<std::string> RunTable::NpyFile(uint64_t number, size_t fetch) const {
  ASSIGN_OR_RETURN(auto run, Find(number));
  std::lock_guard lock(run->mutex);
  if (fetch >= run->values.size()) return MakeError("run {0} has no value {1}", number, fetch);
  const Tensor& value = run->values[fetch];
  if (!value || value.HoldsObjects())
    return MakeError("fetch '{0}' is nothing that a .npy file holds", run->request.fetches[fetch]);
  return NpyFileBytes(run->request.fetches[fetch], value.ToLiteral());
}

}  // namespace grapnel
