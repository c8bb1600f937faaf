// Passes and rules that are functions of Python, for one call of a command.
#ifndef GRAPNEL_PYTHON_SRC_PASSES_H_
#define GRAPNEL_PYTHON_SRC_PASSES_H_

#include <nanobind/nanobind.h>

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "lib/ir/verify.h"
#include "lib/pass/registry.h"
#include "lib/query/path_pattern.h"
#include "lib/support/cancel.h"

namespace grapnel::python {

// The program's registry with what Python has beside it. Made and let go with the GIL or without
// it; functions are called with it, one at a time, by the thread that runs the passes.
class CallerPasses {
 public:
  // `definitions`: Definition of tfgrapnel._passes. `cancel` outlives it. Raises Error where a name
  // or a place is taken.
  CallerPasses(const nanobind::list& definitions, const CancelFlag& cancel);
  ~CallerPasses();
  CallerPasses(const CallerPasses&) = delete;
  CallerPasses& operator=(const CallerPasses&) = delete;

  const PassRegistry& registry() const { return registry_; }
  // What a function raised; no object where none did.
  const nanobind::object& raised() const { return raised_; }
  // With the GIL: raises KeyboardInterrupt in the function that works.
  void Interrupt() const;

 private:
  struct Definition {
    nanobind::object function;
    std::optional<PathPattern> pattern;
  };
  class RuleOfPython;
  class PassOfPython;
  struct Checked {
    std::optional<ChangeVerifier> verifier;
    uint64_t at = 0;  // the version of the graph
  };

  const char* Keep(nanobind::handle text);
  void AddPass(nanobind::handle definition);
  void AddRule(nanobind::handle definition);
  // Null where `given`, what a function gave back, is no exception; else its text.
  std::optional<std::string> RaisedText(nanobind::handle given);
  void CheckWanted() const;
  // What is wrong with what changed since `version`, when nothing was; "" where nothing is.
  std::string WrongSince(uint64_t version, Editor& edit);

  const CancelFlag& cancel_;
  PassRegistry registry_;
  std::deque<Definition> definitions_;
  std::deque<std::string> texts_;
  std::map<uint64_t, Checked> checked_;  // by Graph::id()
  nanobind::object raised_;
  unsigned long worker_ = 0;  // the thread that calls a function, while it does
};

// Adds Pattern, and check_passes().
void AddPasses(nanobind::module_& module);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_PASSES_H_
