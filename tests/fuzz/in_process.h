// Commands as users type them, one after the other in this process, and what became of each.
#ifndef GRAPNEL_TESTS_FUZZ_IN_PROCESS_H_
#define GRAPNEL_TESTS_FUZZ_IN_PROCESS_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace grapnel {

// One for a process. From then on standard output is thrown away, and the other goes to a file.
class CommandRunner {
 public:
  struct Outcome {
    int code = 0;
    double seconds = 0;
    int64_t peak = 0;   // bytes resident
    std::string said;   // on stderr
    std::string fault;  // what no command may do; empty: none
  };

  // Values may take `budget` bytes. Where $FUZZ_AT is set, Announce writes there, and what commands
  // say on stderr is in $FUZZ_AT.err.
  explicit CommandRunner(int64_t budget);

  // Whoever started the process knows from this what ended it.
  void Announce(uint64_t number, const std::string& what) const;
  // A time-out ends the process. Faults: another exit code than 0, 1 and 2; 2 without a word; a bug
  // that grapnel finds in itself; more than 10 seconds, or 2 GB (six times that with a sanitizer).
  Outcome Run(const std::vector<std::string>& arguments) const;
  // For reports: what was standard output.
  FILE* report() const { return report_; }

 private:
  const char* at_;
  FILE* report_;
  std::string errors_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_IN_PROCESS_H_
