// What users run on what they have, as arguments of the program.
#ifndef GRAPNEL_TESTS_FUZZ_MUTANT_COMMANDS_H_
#define GRAPNEL_TESTS_FUZZ_MUTANT_COMMANDS_H_

#include <string>
#include <vector>

#include "tests/fuzz/mutant_seeds.h"

namespace grapnel {

struct Words {
  std::string in;    // what was mutated
  std::string seed;  // a good one of its kind
  std::string out;   // a folder for what is written
  std::string node;  // the name of a node that may be there
};

// Command `number` of those for the kind, which come in turn. A file mean.gtxt, a graph, lies where
// the command runs.
std::vector<std::string> CommandOn(SeedKind kind, uint64_t number, const Words& words);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_MUTANT_COMMANDS_H_
