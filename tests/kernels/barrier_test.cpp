// A failed barrier op changes nothing. Not a text test because a graph's run ends with the first
// error (barrier.gtxt has the rest).
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using S = std::vector<std::string>;

OpRun Barrier() {
  return OpRun("Barrier")
      .Attr("component_types", attr::Types({proto::DT_FLOAT, proto::DT_INT32}))
      .Attr("shapes", attr::Shapes({Shape::Scalar(), Shape::Scalar()}))
      .Attr("shared_name", attr::String("b"))
      .Out({proto::DT_RESOURCE});
}
std::string Insert(const Tensor& barrier, int part, S keys, Tensor values) {
  return OpRun("BarrierInsertMany")
      .In(barrier)
      .In(Vec<std::string>(std::move(keys)))
      .In(std::move(values))
      .Attr("component_index", attr::Int(part))
      .Out({})
      .ErrorText();
}
OpRun Take(const Tensor& barrier, int n) {
  return OpRun("BarrierTakeMany")
      .In(barrier)
      .In(Ints({}, {n}))
      .Out({proto::DT_INT64, proto::DT_STRING, proto::DT_FLOAT, proto::DT_INT32});
}
int SizeOf(const Tensor& barrier, const char* op) {
  return Values<int32_t>(OpRun(op).In(barrier).Out({proto::DT_INT32}).One())[0];
}

TEST(KernelBarrier, WhatIsRefusedChangesNothing) {
  Tensor barrier = Barrier().One();
  EXPECT_EQ(Insert(barrier, 0, {"x", "y"}, Floats({2}, {1, 2})), "no error");
  EXPECT_EQ(Insert(barrier, 1, {"y"}, Ints({1}, {7})), "no error");
  EXPECT_NE(Take(barrier, 2).ErrorText(), "no error");
  EXPECT_NE(Insert(barrier, 0, {"z", "x"}, Floats({2}, {1, 2})), "no error");
  EXPECT_NE(Insert(barrier, 1, {"x", "x", "x"}, Ints({3}, {1, 2, 3})), "no error");
  EXPECT_EQ(SizeOf(barrier, "BarrierReadySize"), 1);
  EXPECT_EQ(SizeOf(barrier, "BarrierIncompleteSize"), 1);
  EXPECT_EQ(Values<std::string>(Take(barrier, 1).All()[1]), (S{"y"}));
}

}  // namespace
}  // namespace grapnel
