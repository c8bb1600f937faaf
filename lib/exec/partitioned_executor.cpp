#include "lib/exec/partitioned_executor.h"

#include <thread>

#include "lib/exec/session.h"

namespace grapnel {
namespace {

// Why a part cannot run beside others; null: it can.
const char* Hindrance(const Node& node) {
  llvm::StringRef op = node.op();
  op.consume_front("Ref");
  bool is_flow = op == "Switch" || op == "Merge" || op == "Enter" || op == "Exit" ||
                 op == "NextIteration" || op == "_SwitchN";
  return is_flow ? "over several devices no dead value can be sent" : nullptr;
}

bool IsSend(const Node& node) { return node.op() == "_Send" || node.op() == "_HostSend"; }

}  // namespace

struct PartitionedExecutor::Part {
  std::string device;
  ThreadPool pool{1};
  std::unique_ptr<Executor> executor;
  std::vector<size_t> feeds, fetches;  // of all, by place among those of this part
};

PartitionedExecutor::PartitionedExecutor() = default;
PartitionedExecutor::~PartitionedExecutor() = default;

Expected<std::unique_ptr<PartitionedExecutor>> PartitionedExecutor::Compile(
    llvm::ArrayRef<DevicePart> parts, const ExecutorOptions& options) {
  std::unique_ptr<PartitionedExecutor> made(new PartitionedExecutor());
  made->session_ = options.session;
  if (!options.session) {
    made->own_session_ = std::make_unique<Session>();
    made->session_ = made->own_session_.get();
  }
  made->num_fetches_ = options.fetches.size();
  made->print_ = options.print;
  std::vector<bool> found(options.fetches.size());
  for (const DevicePart& given : parts) {
    made->parts_.push_back(std::make_unique<Part>());
    Part& part = *made->parts_.back();
    part.device = given.device;
    ExecutorOptions own = options;
    own.feeds.clear();
    own.fetches.clear();
    own.pool = &part.pool;
    own.session = made->session_;
    if (options.print) {
      own.print = [printer = made.get()](Severity severity, llvm::StringRef text) {
        std::lock_guard lock(printer->printing_);
        printer->print_(severity, text);
      };
    }
    auto node_of = [&](llvm::StringRef tensor) {
      auto port = FindTensor(*given.graph, tensor);
      if (port) return given.graph->node(port->node);
      llvm::consumeError(port.takeError());
      return Node();
    };
    for (size_t i = 0; i < options.feeds.size(); ++i) {
      if (!node_of(options.feeds[i])) continue;
      own.feeds.push_back(options.feeds[i]);
      part.feeds.push_back(i);
    }
    for (size_t i = 0; i < options.fetches.size(); ++i) {
      if (!node_of(options.fetches[i])) continue;
      own.fetches.push_back(options.fetches[i]);
      part.fetches.push_back(i);
      found[i] = true;
    }
    for (Node node : given.graph->nodes()) {
      const char* why = parts.size() > 1 ? Hindrance(node) : nullptr;
      if (why)
        return MakeError("node '{0}' ({1}, {2}): {3}", node.name(), node.op(), given.device, why);
      if (IsSend(node)) own.fetches.push_back(node.name().str());
    }
    auto executor = Executor::Compile(*given.graph, own);
    if (!executor) return Annotate(given.device, executor.takeError());
    part.executor = std::move(*executor);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) return MakeError("fetch '{0}': no part has this tensor", options.fetches[i]);
  }
  return made;
}

Error PartitionedExecutor::RunPart(Part* part, llvm::ArrayRef<Tensor> feeds,
                                   llvm::MutableArrayRef<Tensor> results) {
  std::vector<Tensor> own;
  for (size_t i : part->feeds) own.push_back(feeds[i]);
  auto values = part->executor->Run(std::move(own));
  if (!values) return Annotate(part->device, values.takeError());
  for (size_t i = 0; i < part->fetches.size(); ++i)
    results[part->fetches[i]] = std::move((*values)[i]);
  return Error::success();
}

Expected<std::vector<Tensor>> PartitionedExecutor::Run(std::vector<Tensor> feeds) {
  Rendezvous& rendezvous = session_->rendezvous();
  rendezvous.Begin(static_cast<int>(parts_.size()));
  std::vector<Tensor> results(num_fetches_);
  auto run = [&](Part* part) {
    Error error = RunPart(part, feeds, results);
    rendezvous.End(error ? TextOf(std::move(error)) : "");
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < parts_.size(); ++i) threads.emplace_back(run, parts_[i].get());
  if (!parts_.empty()) run(parts_[0].get());
  for (std::thread& thread : threads) thread.join();
  std::string failure = rendezvous.failure();
  if (!failure.empty()) return MakeError("{0}", failure);
  return results;
}

}  // namespace grapnel
