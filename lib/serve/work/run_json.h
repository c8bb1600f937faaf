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
  // Set for a run over several devices; only the run's thread uses it until the run is over:
  // `profile` refers to its graphs.
  std::unique_ptr<RunJob> spread;

  bool IsOver() const {
    std::lock_guard lock(mutex);
    return state != State::kWaiting && state != State::kRunning;
  }

  // Written by the run's thread, under the lock; the members above guard themselves.
  mutable std::mutex mutex;
  State state = State::kWaiting;
  Clock::time_point began = Clock::now();  // start of waiting, then of running
  int nodes = 0;                           // of the main graph's plan; 0 until it is made
  Clock::time_point ended;
  std::string error;
  std::vector<std::string> printed;
  std::vector<Tensor> values;         // by fetch, once the run is done
  std::vector<std::string> compared;  // by fetch: comparison with the case's value; "": none
};

std::string RunStatusJson(const PageRun& run);
std::string RunTensorsJson(const PageRun& run, size_t from, size_t limit);
std::string RunBoxesJson(const PageRun& run, GraphPage& page);
std::string RunNodeJson(const PageRun& run, const Graph& graph, NodeId node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RUN_JSON_H_
