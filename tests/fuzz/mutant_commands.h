// Command lines that users run on files, for fuzzing.
#ifndef GRAPNEL_TESTS_FUZZ_MUTANT_COMMANDS_H_
#define GRAPNEL_TESTS_FUZZ_MUTANT_COMMANDS_H_

#include <string>
#include <vector>

#include "tests/fuzz/mutant_seeds.h"

namespace grapnel {

struct Words {
  std::string in;    // the mutated file
  std::string seed;  // an unmutated one of its kind
  std::string out;   // a directory for output
  std::string node;  // the name of a node that may exist
};

// Returns command `number` for the kind, cycling through the list. A graph, mean.gtxt, is in the
// working directory.
std::vector<std::string> CommandOn(SeedKind kind, uint64_t number, const Words& words);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_MUTANT_COMMANDS_H_
