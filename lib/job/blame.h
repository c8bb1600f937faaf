// A job: runs an opened graph and finds the op that produced the first NaN or infinity that reached
// a fetch.
#ifndef GRAPNEL_LIB_JOB_BLAME_H_
#define GRAPNEL_LIB_JOB_BLAME_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/check/bad_producers.h"
#include "lib/job/run.h"

namespace grapnel {

enum class Impact : uint8_t {
  kNotTried,  // comes after the first harmful producer
  kNone,      // fetches and variables are finite when only this producer's values stay bad
  kDone,
};

struct BlamedProducer {
  BadProducer producer;
  Impact harm = Impact::kNotTried;
};

struct BadFetch {
  std::string name;
  RecordedTensor value;
  std::string key;           // the key in the signature; empty: none
  bool is_variable = false;  // a variable that the run made bad; it cannot be fetched
};

struct RunBlame {
  std::vector<BlamedProducer> producers;  // in order of their first run
  std::vector<BadFetch> bad_fetches;
  bool is_of_variables = false;  // true if all fetches are finite and only variables are bad
  std::string failure;  // the error that ended the run, such as a numerics check's; else empty
  // The harmful node, then the nodes of the main graph through which its value reaches a fetch.
  std::vector<std::string> path;
  int runs = 0;     // number of runs made
  int bad_run = 0;  // of several runs, the first with a bad fetch; 0: none
  // False if replacing the bad values with finite ones made new bad values: the result is then a
  // guess.
  bool is_certain = true;
  bool IsBad() const { return !bad_fetches.empty() || !failure.empty(); }
  // Returns the first harmful producer, or null. If is_of_variables is true, it harms variables,
  // not fetches.
  const BadProducer* first_harmful() const;
};

// Runs the request on one CPU thread; its `hook`, `watch`, `pool`, `device` and `devices` are
// ignored. Runs it up to `runs` times, until a fetch is bad; variables keep their values between
// runs. If no fetch is ever bad, stops at the first run that makes a previously finite variable
// bad. A producer is harmful if the result is bad, or the run fails, even when the values of all
// other producers are made finite. Cost: one run for each producer before the first harmful one, or
// a few runs in all if there are many producers. Errors: RunJob's; a node's error is part of the
// result if something was bad before it.
Expected<RunBlame> BlameRun(OpenedGraph& opened, const RunRequest& request, int runs = 1);

// Returns the variables that contain NaN or infinity, by name. Cost: linear in their elements.
std::vector<BadFetch> BadVariables(const Session& session);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_BLAME_H_
