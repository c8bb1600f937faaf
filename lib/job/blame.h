// A job: an opened graph is run, and the op is found that made the first NaN or infinity which
// reached what was asked for.
#ifndef GRAPNEL_LIB_JOB_BLAME_H_
#define GRAPNEL_LIB_JOB_BLAME_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/check/bad_producers.h"
#include "lib/job/run.h"

namespace grapnel {

enum class Impact : uint8_t {
  kNotTried,  // comes after the first that does harm
  kNone,      // what is fetched and kept is finite with it, when all others are made finite
  kDone,
};

struct BlamedProducer {
  BadProducer producer;
  Impact harm = Impact::kNotTried;
};

struct BadFetch {
  std::string name;
  RecordedTensor value;
  std::string key;           // a signature's; empty: none
  bool is_variable = false;  // one that the run made so, and that nobody may fetch
};

struct RunBlame {
  std::vector<BlamedProducer> producers;  // in the order in which they first ran
  std::vector<BadFetch> bad_fetches;
  bool is_of_variables = false;  // all that is fetched is finite: harm is what variables keep
  std::string failure;  // the error that ended the run, as a check of numbers does; else empty
  // The node that does harm, and those of the main graph through which it reaches a fetch.
  std::vector<std::string> path;
  int runs = 0;     // that were made
  int bad_run = 0;  // of several runs, the first in which something fetched was bad; 0: none
  // False: numbers that stood for the bad ones made new bad ones, so that harm is a guess.
  bool is_certain = true;
  bool IsBad() const { return !bad_fetches.empty() || !failure.empty(); }
  // The first that does harm, by what is_of_variables says; null: none.
  const BadProducer* first_harmful() const;
};

// Runs the request, whose `hook`, `watch`, `pool`, `device` and `devices` are not looked at, on one
// thread of the CPU: `runs` times in turn, or until something fetched is bad, where variables keep
// what each run made of them; where nothing is, until a variable is that was finite before. A
// producer does harm when that is so, or the run fails, with all other producers made finite: so
// each that comes before the first harmful one costs a run, or of many a few. Errors: RunJob's, but
// for those of nodes, which are part of the answer where something was bad before.
Expected<RunBlame> BlameRun(OpenedGraph& opened, const RunRequest& request, int runs = 1);

// Variables that hold NaN or infinity, by name. Cost: linear in what they hold.
std::vector<BadFetch> BadVariables(const Session& session);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_BLAME_H_
