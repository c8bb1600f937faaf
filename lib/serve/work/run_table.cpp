#include "lib/serve/work/run_table.h"

#include "lib/check/comparison.h"
#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/job/run_taps.h"
#include "lib/render/labels.h"
#include "lib/serve/work/run_json.h"
#include "lib/support/exceptions.h"

namespace grapnel {
namespace {

// Compares a fetched value with the case's value; "" if there are no two values to compare.
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
  RETURN_IF_ERROR(CheckValid(opened, nullptr));  // before making the feeds, which may be large
  ASSIGN_OR_RETURN(RunRequest request, MakeRunRequest(opened, run.request, find));
  request.print = [&run](Severity, llvm::StringRef text) {
    std::lock_guard lock(run.mutex);
    if (run.printed.size() < kMostPrintedLines) run.printed.push_back(text.str());
  };
  request.watch = &run.watch;
  request.profiler = &run.profile;
  ASSIGN_OR_RETURN(RunJob made, RunJob::MakeApart(opened, std::move(request)));
  auto owned = std::make_unique<RunJob>(std::move(made));
  RunJob& job = *owned;
  bool is_spread = job.runs_copy();
  if (is_spread) run.spread = std::move(owned);
  RETURN_IF_ERROR(job.Prepare());
  job.ReportSpread([&run](Severity severity, llvm::StringRef text) {
    if (severity == Severity::kInfo) return;
    std::lock_guard lock(run.mutex);
    run.note = text.str();
  });
  {
    std::lock_guard lock(run.mutex);
    run.nodes = is_spread ? static_cast<int>(run.watch.main_nodes_planned()) : job.num_nodes();
  }
  return job.Run();
}

void ExecuteAndTell(PageRun& run, const UploadFinder& find) {
  {
    std::lock_guard lock(run.mutex);
    run.state = PageRun::State::kRunning;
    run.began = PageRun::Clock::now();
  }
  std::vector<std::string> compared;
  auto values = WithoutExceptions([&]() -> Expected<std::vector<Tensor>> {
    ASSIGN_OR_RETURN(std::vector<Tensor> made, Execute(run, find));
    for (size_t i = 0; i < made.size(); ++i)
      compared.push_back(AllFedByCase(run.request) ? CompareWithCase(run, i, made[i]) : "");
    return made;
  });
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

// The size of a string in memory, which may be longer.
constexpr size_t kStringBytes = 32;

// Returns the approximate memory of a run's values.
size_t BytesOf(const PageRun& run) {
  std::lock_guard lock(run.mutex);
  size_t bytes = 0;
  for (const Tensor& value : run.values) {
    if (!value) continue;
    size_t size = DataTypeSize(value.dtype());
    bytes += value.num_elements() * (size ? size : kStringBytes);
  }
  return bytes;
}

}  // namespace

RunTable::RunTable() = default;

RunTable::~RunTable() {
  {
    std::lock_guard lock(mutex_);
    end_ = true;
    for (const auto& [number, run] : runs_) run->watch.Stop();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RunTable::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return end_ || !waiting_.empty(); });
    if (end_) return;
    std::shared_ptr<PageRun> run = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    ExecuteAndTell(*run, [this](uint64_t file) { return FindFile(file); });
    run = nullptr;
    lock.lock();
    ForgetOldest();
  }
}

// Drops the oldest finished runs beyond the limits. Never drops the last finished run, whatever the
// size of its values.
void RunTable::ForgetOldest() {
  size_t kept = 0, bytes = 0;
  for (auto it = runs_.end(); it != runs_.begin();) {
    --it;
    if (!it->second->IsOver()) continue;
    bytes += BytesOf(*it->second);
    if (kept > 0 && (kept == kMostKept || bytes > kMostKeptValues)) {
      it = runs_.erase(it);
    } else {
      ++kept;
    }
  }
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
  if (found == files_.end())
    return MakeError("the server no longer has the uploaded file: choose the file again");
  return found->second;
}

Expected<std::string> RunTable::Start(std::shared_ptr<const OpenedGraph> opened,
                                      llvm::StringRef text) {
  ASSIGN_OR_RETURN(PageRunRequest request, ParsePageRunRequest(text));
  RETURN_IF_ERROR(ResolveTaps(*opened, "", &request.taps, "taps"));
  std::lock_guard lock(mutex_);
  if (waiting_.size() == kMostWaiting)
    return MakeError("{0} runs are already waiting: stop one, or wait until one has ended",
                     kMostWaiting);
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  auto run = std::make_shared<PageRun>(last_run_ + 1, std::move(opened), std::move(request));
  runs_[run->number] = run;
  waiting_.push_back(run);
  ++last_run_;
  wake_.notify_one();
  return PageDocument(
      [&](llvm::json::OStream& json) { json.object([&] { json.attribute("run", last_run_); }); });
}

Expected<std::shared_ptr<PageRun>> RunTable::Find(uint64_t run) const {
  std::lock_guard lock(mutex_);
  auto found = runs_.find(run);
  if (found != runs_.end()) return found->second;
  return MakeError("there is no run {0}: only the last runs are kept", run);
}

Expected<std::string> RunTable::Stop(uint64_t number) {
  ASSIGN_OR_RETURN(auto run, Find(number));
  run->watch.Stop();
  {
    std::lock_guard lock(mutex_);
    if (auto place = llvm::find(waiting_, run); place != waiting_.end()) {
      waiting_.erase(place);
      std::lock_guard run_lock(run->mutex);
      run->state = PageRun::State::kStopped;
      run->ended = PageRun::Clock::now();
    }
    ForgetOldest();
  }
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
  if (!run->IsOver()) return MakeError("run {0} has not ended yet", number);
  return run;
}

Expected<std::string> RunTable::BoxesJson(uint64_t number, GraphPage& page) const {
  ASSIGN_OR_RETURN(auto run, FindOver(number));
  if (&page.graph(0) != &run->opened->module().main)
    return MakeError("run {0} ran another graph", number);
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
  if (fetch >= run->values.size())
    return MakeError("run {0} has no fetched value with index {1}", number, fetch);
  const Tensor& value = run->values[fetch];
  if (!value || value.HoldsObjects())
    return MakeError("fetch '{0}' has no value that a .npy file can hold",
                     run->request.fetches[fetch]);
  return NpyFileBytes(run->request.fetches[fetch], value.ToLiteral());
}

}  // namespace grapnel
