// Passes and rules that are Python functions, for one call of a command.
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

// The program's registry plus Python's passes and rules. Create it with the GIL; it may be
// destroyed with or without the GIL. The thread that runs the passes calls the Python functions
// with the GIL, one at a time.
class CallerPasses {
 public:
  // `definitions` are Definition objects of tfgrapnel._passes. `cancel` must outlive this object.
  // Raises Error if the registry refuses one, for example because its name or place is taken.
  CallerPasses(const nanobind::list& definitions, const CancelFlag& cancel);
  ~CallerPasses();
  CallerPasses(const CallerPasses&) = delete;
  CallerPasses& operator=(const CallerPasses&) = delete;

  const PassRegistry& registry() const { return registry_; }
  // The exception that a Python function raised, or a null object.
  const nanobind::object& raised() const { return raised_; }
  // Requires the GIL: raises KeyboardInterrupt in the running function.
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
    uint64_t at = 0;  // the version of the graph when it was last verified
  };

  const char* Keep(nanobind::handle text);
  void AddPass(nanobind::handle definition);
  void AddRule(nanobind::handle definition);
  // If `given`, a function's result, is a tuple (text, exception), because the function raised the
  // exception, keeps that for raised() and returns the text; else returns nullopt.
  std::optional<std::string> RaisedText(nanobind::handle given);
  void CheckWanted() const;
  // Verifies the changes of the graph since `version`, at which it was correct; returns the problem
  // found, or "".
  std::string WrongSince(uint64_t version, Editor& edit);

  const CancelFlag& cancel_;
  PassRegistry registry_;
  std::deque<Definition> definitions_;
  std::deque<std::string> texts_;
  std::map<uint64_t, Checked> checked_;  // key: Graph::id()
  nanobind::object raised_;
  unsigned long worker_ = 0;  // the thread that calls the Python functions
};

// Adds Pattern, and check_passes().
void AddPasses(nanobind::module_& module);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_PASSES_H_
