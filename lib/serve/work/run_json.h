// A run that the page requested, and its JSON documents.
#ifndef GRAPNEL_LIB_SERVE_WORK_RUN_JSON_H_
#define GRAPNEL_LIB_SERVE_WORK_RUN_JSON_H_

#include <chrono>
#include <mutex>

#include "lib/job/run_watch.h"
#include "lib/render/graph_page.h"
#include "lib/serve/work/run_request.h"
#include "lib/watch/profile.h"

namespace grapnel {

struct PageRun {
  enum class State { kWaiting, kRunning, kDone, kFailed, kStopped };
  using Clock = std::chrono::steady_clock;

  PageRun(uint64_t number, std::shared_ptr<const OpenedGraph> opened, PageRunRequest request)
      : number(number),
        opened(std::move(opened)),
        request(std::move(request)),
        watch(this->opened->module().main, this->request.taps, this->request.mode) {}

  const uint64_t number;
  const std::shared_ptr<const OpenedGraph> opened;
  const PageRunRequest request;
  RunWatch watch;
  Profile profile;
  // The job of a run over several devices; null for other runs. It is kept as long as this object
  // because `profile` refers to its graphs. Until the run is over, only the run's thread uses it.
  std::unique_ptr<RunJob> spread;

  bool IsOver() const {
    std::lock_guard lock(mutex);
    return state != State::kWaiting && state != State::kRunning;
  }

  // Guards the members below. The members above are thread-safe or constant, except `spread`.
  mutable std::mutex mutex;
  State state = State::kWaiting;
  Clock::time_point began = Clock::now();  // when waiting began, then when running began
  int nodes = 0;  // nodes in the main graph's plan; 0 until there is a plan
  Clock::time_point ended;
  std::string error;
  std::string note;  // "simulated on the CPU: ..."; empty: none
  std::vector<std::string> printed;
  std::vector<Tensor> values;         // by fetch, once the run is done
  std::vector<std::string> compared;  // by fetch: comparison with the case's value; "" without one
};

std::string RunStatusJson(const PageRun& run);
std::string RunTensorsJson(const PageRun& run, size_t from, size_t limit);
std::string RunBoxesJson(const PageRun& run, GraphPage& page);
std::string RunNodeJson(const PageRun& run, const Graph& graph, NodeId node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RUN_JSON_H_
