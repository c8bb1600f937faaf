#include "lib/check/first_cause.h"

#include "gtest/gtest.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

BlameReport Blame(const std::string& path) {
  DebugFolder folder = Read(path);
  return folder.runs.empty() ? BlameReport() : FindCauses(folder.runs.back());
}

std::vector<double> Full(int64_t neg_inf, int64_t nan, int64_t zero) {
  return {0,
          -1,
          1,
          1,
          10,
          static_cast<double>(neg_inf),
          0,
          static_cast<double>(nan),
          0,
          static_cast<double>(zero),
          static_cast<double>(10 - neg_inf - nan - zero)};
}

TEST(FirstCause, GoesThroughTheArgumentToTheCaller) {
  BlameReport report = Blame("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  EXPECT_EQ(report.alerts.size(), 80u);
  EXPECT_EQ(report.num_causes, 1u);
  EXPECT_EQ(report.consequences, 79u);
  ASSERT_EQ(report.causes.size(), 1u);
  const Cause& cause = report.causes[0];
  EXPECT_EQ(CauseSentence(cause),
            "Log (step 0, train_step > loss_fn) made -inf x12 of 160 because its input Softmax:0 "
            "holds 12 zeros");
  EXPECT_EQ(cause.alert.trace, 11);
  EXPECT_EQ(cause.execution, 22);
  ASSERT_EQ(cause.inputs.size(), 1u);
  EXPECT_EQ(cause.inputs[0].tensor, "probs:0");
  EXPECT_EQ(cause.inputs[0].made_in, "model");
  EXPECT_EQ(cause.framework_frames, 16);
}

// The loop's argument is bad because of the previous iteration; the log is in three iterations of
// two calls.
TEST(FirstCause, FollowsLoops) {
  BlameReport report = Blame("testdata/tfdbg/control_flow_FULL_HEALTH");
  EXPECT_EQ(report.alerts.size(), 26u);
  ASSERT_FALSE(report.causes.empty());
  EXPECT_EQ(report.causes[0].node, "Log");
  EXPECT_EQ(report.causes[0].function, "inner");
  EXPECT_EQ(report.causes[0].iteration, 0);
  EXPECT_EQ(report.causes[0].times, 6u);
  for (const Cause& cause : report.causes)
    EXPECT_TRUE(cause.op_type == "Log" || cause.function.empty()) << cause.node;
}

// A variable that was assigned NaN passes it to later readers.
TEST(FirstCause, FollowsVariables) {
  TestDebugWriter writer("cause_variable");
  auto mode = proto::FULL_HEALTH;
  writer.Execution("VarHandleOp", 1, {}, 1, mode, {});
  writer.Execution("Log", 2, {7}, 8, mode, Full(3, 0, 0));
  writer.Execution("AssignVariableOp", 3, {1, 8}, -1, mode, {});
  writer.Execution("ReadVariableOp", 4, {1}, 9, mode, Full(3, 0, 0));
  writer.Write();
  BlameReport report = Blame(writer.path());
  EXPECT_EQ(report.num_causes, 1u);
  EXPECT_EQ(report.consequences, 1u);
  EXPECT_EQ(report.causes[0].node, "Log");
}

// The same when both are in functions, which record no write: the handle is an argument of each.
TEST(FirstCause, FollowsVariablesThroughFunctions) {
  TestDebugWriter writer("cause_function_variable");
  auto mode = proto::FULL_HEALTH;
  writer.Graph("root", "", "");
  writer.Graph("u", "update", "root");
  writer.Op("u", "Placeholder", "handle", {});
  writer.Op("u", "Placeholder", "x", {});
  writer.Op("u", "Log", "Log", {"x:0"});
  writer.Op("u", "AssignVariableOp", "Assign", {"handle:0", "Log:0"});
  writer.Graph("r", "read", "root");
  writer.Op("r", "Placeholder", "handle", {});
  writer.Op("r", "ReadVariableOp", "Read", {"handle:0"});
  writer.Execution("VarHandleOp", 1, {}, 1, mode, {});
  writer.Trace("u", "Log", 2, mode, Full(3, 0, 0));
  writer.Execution("__inference_update_5", 3, {1, 2}, -1, mode, {});
  writer.Trace("r", "Read", 4, mode, Full(3, 0, 0));
  writer.Execution("__inference_read_6", 5, {1}, 3, mode, Full(3, 0, 0));
  writer.Write();
  BlameReport report = Blame(writer.path());
  EXPECT_EQ(report.alerts.size(), 3u);
  EXPECT_EQ(report.num_causes, 1u);
  EXPECT_EQ(report.consequences, 2u);
}

// A function that was traced twice: the body with the right number of arguments and with traces is
// found.
TEST(FirstCause, FindsTheBodyOfARetracedFunction) {
  TestDebugWriter writer("cause_retraced");
  auto mode = proto::FULL_HEALTH;
  writer.Graph("root", "", "");
  for (const char* id : {"f1", "f2"}) {
    writer.Graph(id, "f", "root");
    writer.Op(id, "Placeholder", "x", {});
    writer.Op(id, "Log", "Log", {"x:0"});
  }
  writer.Execution("Fill", 1, {}, 1, mode, Full(0, 0, 2));
  writer.Trace("f1", "Log", 2, mode, Full(2, 0, 0));
  writer.Execution("__forward_f_5", 3, {1}, -1, mode, {});
  writer.Write();
  BlameReport report = Blame(writer.path());
  ASSERT_EQ(report.causes.size(), 1u);
  EXPECT_EQ(CauseSentence(report.causes[0]),
            "Log (step 0, f) made -inf x2 of 10 because its input Fill:0 holds 2 zeros");
}

TEST(FirstCause, KnowsDivisionByZeroAndOverflow) {
  TestDebugWriter writer("cause_reasons");
  auto mode = proto::FULL_HEALTH;
  writer.Execution("Fill", 1, {1}, 2, mode, Full(0, 0, 4));
  writer.Execution("RealDiv", 2, {2, 2}, 3, mode, Full(0, 4, 0));
  writer.Execution("Exp", 3, {2}, 4, mode, Full(1, 0, 0));
  writer.Write();
  BlameReport report = Blame(writer.path());
  ASSERT_EQ(report.causes.size(), 2u);
  EXPECT_EQ(CauseSentence(report.causes[0]),
            "RealDiv made NaN x4 of 10 because its input Fill:0 holds 4 zeros");
  EXPECT_EQ(CauseSentence(report.causes[1]),
            "Exp made -inf x1 of 10 though all its inputs are finite: the result may be too large "
            "for its dtype");
}

TEST(FirstCause, CannotTellFromShapes) {
  TestDebugWriter writer("cause_shape");
  writer.Execution("Log", 1, {1}, 2, proto::SHAPE, {-1, 1, 0, 1, 0, 0, 0, 0, 0, 0});
  writer.Write();
  BlameReport report = Blame(writer.path());
  EXPECT_FALSE(report.can_tell);
  EXPECT_TRUE(report.causes.empty());
}

// An Identity that reads itself, in both directions of a call.
TEST(FirstCause, RingsOfIdentitiesEnd) {
  TestDebugWriter writer("cause_ring");
  writer.Graph("root", "", "");
  writer.Graph("g", "f", "root");
  writer.Op("g", "Identity", "a", {"b:0"});
  writer.Op("g", "Identity", "b", {"a:0"});
  writer.Op("g", "Log", "Log", {"a:0"});
  writer.Trace("g", "Log", 1, proto::CURT_HEALTH, {1, 1});
  writer.Write();
  EXPECT_EQ(Blame(writer.path()).num_causes, 1u);
}

}  // namespace
}  // namespace grapnel
