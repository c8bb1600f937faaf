// One line a node: what tests check and people read.
#ifndef GRAPNEL_LIB_IR_PRINT_H_
#define GRAPNEL_LIB_IR_PRINT_H_

#include <functional>

#include "lib/ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// What a port holds, as the printer shows it: "float[2,3]"; empty when nothing is known.
using PortDescriber = std::function<std::string(Port)>;

// `%add = Add(%a:0, %b:0, ^init) {T=float} @cpu:0 : float[2,3]`. A small constant shows its value:
// `%c = Const {dtype=int32} : int32[2] = [1,2]`.
std::string NodeLine(const Node& node, const PortDescriber& describe = {});

// Every node, inputs before readers; functions after the main graph, `func @name(...) {` around
// each.
void PrintModule(const Module& module, llvm::raw_ostream& os, const PortDescriber& describe = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_PRINT_H_
