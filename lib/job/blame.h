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
  kNone,      // its bad values make no fetch bad and no run fail
  kDone,
};

struct BlamedProducer {
  BadProducer producer;
  Impact harm = Impact::kNotTried;
};

struct BadFetch {
  std::string name;
  RecordedTensor value;
  std::string key;           // the key in the signature; empty: it has no key
  bool is_variable = false;  // true: a variable that the run made bad, not a fetch
};

struct RunBlame {
  std::vector<BlamedProducer> producers;  // in order of their first run
  std::vector<BadFetch> bad_fetches;
  bool is_of_variables = false;  // true if all fetches are finite and only variables are bad
  std::string failure;  // the error that ended the run, such as a numerics check's; else empty
  // The harmful node (in a function: its outermost call), then the nodes on the shortest path along
  // data edges to a bad fetch; empty if there is no such path.
  std::vector<std::string> path;
  int runs = 0;     // number of runs, up to the bad one
  int bad_run = 0;  // of several runs, the first bad one; else 0
  // False if replacing the bad values with finite ones made new bad values: this RunBlame is then a
  // guess.
  bool is_certain = true;
  bool IsBad() const { return !bad_fetches.empty() || !failure.empty(); }
  // Returns the first harmful producer, or null. If is_of_variables is true, this producer harms
  // variables, not fetches.
  const BadProducer* first_harmful() const;
};

// Runs the graph on one CPU thread; what RunRequest::ByItself() resets is ignored. Runs the graph
// up to `runs` times, until a fetch is bad or a run fails; variables keep their values between
// runs. If no fetch is ever bad, runs again, up to the first run that makes a previously finite
// variable bad. A producer is harmful if a fetch is bad, or the run fails, even when the values of
// all other producers are made finite; if none of the first eight is, the last producer of the
// shortest prefix of the list that is harmful together. Cost: the runs are repeated once or twice
// for each producer up to the first harmful one; after eight producers, for each step of a binary
// search. Errors: those of RunJob; a node's error is part of the result if something was bad before
// it.
Expected<RunBlame> BlameRun(OpenedGraph& opened, const RunRequest& request, int runs = 1);

// Returns the variables that contain NaN or infinity, by name. Cost: linear in their elements.
std::vector<BadFetch> BadVariables(const Session& session);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_BLAME_H_
