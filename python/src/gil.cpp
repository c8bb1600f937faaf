#include "python/src/gil.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace nb = nanobind;

namespace grapnel::python {
namespace {

using std::chrono::steady_clock;

std::atomic<bool> is_ending = false;
std::atomic<int> num_waiting = 0;  // threads that are requesting the GIL
std::thread::id ending_thread;     // this thread may still take the GIL; set before is_ending
// For a thread that has a Python thread state: true if the thread released the GIL.
thread_local bool has_released = false;

bool HoldsGil() { return PyGILState_GetThisThreadState() && !has_released; }

[[noreturn]] void StayHere() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// A thread increments num_waiting before it checks is_ending, and the shutdown reads num_waiting
// after setting is_ending: so the shutdown waits, at most a second, for the threads that did not
// see the flag.
template <typename Take>
auto TakeInTime(Take take) {
  ++num_waiting;
  if (IsTooLate()) {
    --num_waiting;
    StayHere();
  }
  auto taken = take();
  --num_waiting;
  return taken;
}

void End() {
  ending_thread = std::this_thread::get_id();
  is_ending = true;
  PyThreadState* state = PyEval_SaveThread();
  auto end = steady_clock::now() + std::chrono::seconds(1);
  while (num_waiting > 0 && steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

}  // namespace

ReleasedGil::ReleasedGil() : state_(PyEval_SaveThread()) {
  has_released = true;
  if (IsTooLate()) StayHere();
}

ReleasedGil::~ReleasedGil() {
  TakeInTime([this] {
    PyEval_RestoreThread(state_);
    return true;
  });
  has_released = false;
}

TakenGil::TakenGil()
    : state_(HoldsGil() ? PyGILState_Ensure() : TakeInTime(PyGILState_Ensure)),
      had_released_(std::exchange(has_released, false)) {}

TakenGil::~TakenGil() {
  PyGILState_Release(state_);
  has_released = had_released_;
}

bool IsTooLate() { return is_ending && std::this_thread::get_id() != ending_thread; }

void WatchEnd() {
  pthread_atfork(nullptr, nullptr, [] { num_waiting = 0; });  // the child has only this thread
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(End));
}

}  // namespace grapnel::python
