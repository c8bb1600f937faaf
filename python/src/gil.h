// The GIL, for threads that may still run when the interpreter ends.
//
// If a thread requests the GIL too late, Python ends the thread by unwinding its stack, and C++
// ends the process if that passes through a destructor. So threads that request the GIL after the
// shutdown has begun, which `atexit` announces, block until the process ends. Only the thread that
// shuts down may still take it.
#ifndef GRAPNEL_PYTHON_SRC_GIL_H_
#define GRAPNEL_PYTHON_SRC_GIL_H_

#include <nanobind/nanobind.h>

namespace grapnel::python {

// The constructor releases the GIL; the destructor takes it again.
class ReleasedGil {
 public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// The constructor takes the GIL on any thread; the destructor releases it.
class TakenGil {
 public:
  TakenGil();
  ~TakenGil();
  TakenGil(const TakenGil&) = delete;
  TakenGil& operator=(const TakenGil&) = delete;

 private:
  PyGILState_STATE state_;
  bool had_released_;
};

// True if it is too late for this thread to take the GIL.
bool IsTooLate();

// Registers the `atexit` function that announces the shutdown.
void WatchEnd();

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_GIL_H_
