#include "lib/function/freeze.h"

#include <gtest/gtest.h>

#include "lib/ir/text.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

// Freezes the graph, whose variables have the value 1; returns the error, if any.
std::string Freeze(const char* text) {
  auto graphs = ReadGraphText(*FileBytes::FromString(text, "test"));
  Module& module = *graphs[0].module;
  for (const Problem& problem : module.problems) ADD_FAILURE() << problem.ToString();
  Error error = FreezeVariables(
      module, [](const Node&) -> Expected<Literal> { return Literal::Scalar(proto::DT_FLOAT, 1); });
  return error ? TextOf(std::move(error)) : "";
}

TEST(FreezeTest, AHandleGoesOnlyThroughOpsThatCanPassTheValue) {
  EXPECT_EQ(Freeze(R"(
    %v = VarHandleOp {dtype=float, shape=[]}
    %passed = Identity(%v) {T=resource}
    %y = ReadVariableOp(%passed) {dtype=float}
  )"),
            "");
  EXPECT_EQ(Freeze(R"(
    %v = VarHandleOp {dtype=float, shape=[]}
    %stopped = StopGradient(%v) {T=resource}
    %y = ReadVariableOp(%stopped) {dtype=float}
  )"),
            "variable 'v' cannot be frozen: node 'stopped' (StopGradient) writes the variable, or "
            "needs its handle");
}

TEST(FreezeTest, OpsThatReadAValueStay) {
  EXPECT_EQ(Freeze(R"(
    %v = VariableV2 {dtype=float, shape=[]}
    %y = StopGradient(%v) {T=float}
  )"),
            "");
}

}  // namespace
}  // namespace grapnel
