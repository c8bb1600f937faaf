// Runs user commands one after the other in this process and reports their outcomes.
#ifndef GRAPNEL_TESTS_FUZZ_IN_PROCESS_H_
#define GRAPNEL_TESTS_FUZZ_IN_PROCESS_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace grapnel {

// Construct only one per process. From then on stdout is discarded, and stderr goes to a file.
class CommandRunner {
 public:
  struct Outcome {
    int code = 0;
    double seconds = 0;
    int64_t peak = 0;   // resident bytes
    std::string said;   // on stderr
    std::string fault;  // why the outcome is a bug; empty if it is not
  };

  // Tensor values may take `budget` bytes. If $FUZZ_AT is set, Announce writes to it, and commands'
  // stderr goes to $FUZZ_AT.err.
  explicit CommandRunner(int64_t budget);

  // Records the next mutant, so that the parent process knows which one ended this process.
  void Announce(uint64_t number, const std::string& what) const;
  // A time-out ends the process. Faults: an exit code other than 0, 1 and 2; 2 without a message; a
  // bug that grapnel reports in itself; more than 10 seconds, or 2 GB (six times that with a
  // sanitizer).
  Outcome Run(const std::vector<std::string>& arguments) const;
  // The original stdout, for reports.
  FILE* report() const { return report_; }

 private:
  const char* at_;
  FILE* report_;
  std::string errors_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_IN_PROCESS_H_
