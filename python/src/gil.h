// The GIL, for threads that may still run when the interpreter ends.
//
// Python ends a thread that asks for the GIL too late, by unwinding its stack, and C++ ends the
// process where that goes through a destructor. So threads that come after the end began, which
// `atexit` tells, stay where they are until the process is over.
#ifndef GRAPNEL_PYTHON_SRC_GIL_H_
#define GRAPNEL_PYTHON_SRC_GIL_H_

#include <nanobind/nanobind.h>

namespace grapnel::python {

// Lets go of the GIL, and takes it again.
class ReleasedGil {
 public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// Takes the GIL on any thread, and lets go of it.
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

// Whether it is too late for this thread to take the GIL.
bool IsTooLate();

// Has the interpreter tell of its end.
void WatchEnd();

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_GIL_H_
