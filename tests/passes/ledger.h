// Repeats a run of passes from its ledger.
#ifndef GRAPNEL_TESTS_PASSES_LEDGER_H_
#define GRAPNEL_TESTS_PASSES_LEDGER_H_

#include <map>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// The nodes of a module: serialized NodeDefs by name, by body ("" is the main graph).
using NodeDefs = std::map<std::string, std::map<std::string, std::string>>;
NodeDefs NodeDefsOf(const Module& module);

// The rewrites of `ledger` (JSON lines), applied to `before`.
NodeDefs ApplyLedger(const Module& before, llvm::StringRef ledger);

// The first difference, or nothing.
std::string FirstDifference(const NodeDefs& got, const NodeDefs& expected);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_PASSES_LEDGER_H_
