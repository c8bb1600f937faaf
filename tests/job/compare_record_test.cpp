// A run beside what TensorFlow's debugger would have recorded of it: functions, loops, calls.
#include "gtest/gtest.h"
#include "lib/job/compare.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

OpenedGraph Open(const char* text, const std::string& name) {
  std::string path = testing::TempDir() + "/" + name;
  llvm::cantFail(WriteFile(path, text));
  return llvm::cantFail(OpenedGraph::Open(path));
}

RunComparison Compare(OpenedGraph& a, const TestDebugWriter& writer, int step) {
  DebugFolder folder = Read(writer.path());
  CompareRequest request;
  return llvm::cantFail(CompareWithRecord(a, folder, folder.runs[0], step, request));
}

// The second call of the function has another value in the second iteration of its loop.
TEST(CompareRecord, ALoopInACall) {
  constexpr auto kWhole = proto::FULL_TENSOR;
  TestDebugWriter writer("compare_record");
  writer.Graph("root", "", "");
  writer.Graph("f", "f", "root");
  writer.Graph("body", "while_body_7", "f");
  writer.Op("f", "Placeholder", "x", {});
  writer.Op("f", "Square", "start", {"x:0"});
  writer.Op("body", "Mul", "twice", {"v:0"});
  double time = 2;
  for (double wrong : {0.0, 1.0}) {
    writer.Trace("f", "start", time++, kWhole, {9, 16});
    writer.Trace("body", "twice", time++, kWhole, {18, 32});
    writer.Trace("body", "twice", time++, kWhole, {36, 64 + wrong});
    writer.Execution("__inference_f_3", time++, {1}, 2, kWhole, {36, 64});
  }
  writer.Write();
  OpenedGraph model = Open(R"(
fetch %w:1
%x = Const double [3.0, 4.0]
%start = Square(%x)
%n = Const 0
%w = While(%n, %start) {T=[int32,double], cond=@while_cond_6, body=@__inference_while_body_7_40}
func @while_cond_6(%i: int32, %v: double) -> (r: bool) {
  %l = Less(%i, %two=2)
  return %l
}
func @__inference_while_body_7_40(%i: int32, %v: double) -> (j: int32, u: double) {
  %j = AddV2(%i, %one=1)
  %twice = Mul(%v, %factor=double 2.0)
  return %j, %twice
}
)",
                           "compare_record.gtxt");
  RunComparison first = Compare(model, writer, 0);
  EXPECT_TRUE(first.Agrees());
  EXPECT_EQ(first.divergence.tensors, 3);
  EXPECT_EQ(first.divergence.same, 3);

  RunComparison second = Compare(model, writer, 1);
  ASSERT_NE(second.first_fault(), nullptr);
  EXPECT_EQ(second.first_fault()->node, "twice");
  EXPECT_EQ(second.first_fault()->calls.back().iteration, 1);
  EXPECT_EQ(second.first_fault()->difference.value_b, "65");
  EXPECT_EQ(second.divergence.diverged, 1);
}

}  // namespace
}  // namespace grapnel
