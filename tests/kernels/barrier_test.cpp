// Barriers: errors where TensorFlow would wait, and what is refused.
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
OpRun Take(const Tensor& barrier, int n, bool small = false) {
  return OpRun("BarrierTakeMany")
      .In(barrier)
      .In(Ints({}, {n}))
      .Attr("allow_small_batch", attr::Bool(small))
      .Out({proto::DT_INT64, proto::DT_STRING, proto::DT_FLOAT, proto::DT_INT32});
}
std::string Close(const Tensor& barrier, bool cancel) {
  return OpRun("BarrierClose")
      .In(barrier)
      .Attr("cancel_pending_enqueues", attr::Bool(cancel))
      .Out({})
      .ErrorText();
}
int SizeOf(const Tensor& barrier, const char* op) {
  return Values<int32_t>(OpRun(op).In(barrier).Out({proto::DT_INT32}).One())[0];
}

// What is refused changes nothing.
TEST(KernelBarrier, NeverWaits) {
  Tensor barrier = Barrier().One();
  EXPECT_EQ(Insert(barrier, 0, {"x", "y"}, Floats({2}, {1, 2})), "no error");
  EXPECT_EQ(Insert(barrier, 1, {"y"}, Ints({1}, {7})), "no error");
  EXPECT_EQ(Take(barrier, 2).ErrorText(),
            "barrier 'b' has 1 complete elements, 2 were asked for: nothing in this run could add "
            "more");
  EXPECT_EQ(Insert(barrier, 0, {"z", "x"}, Floats({2}, {1, 2})),
            "key 'x' already has a value for component 0 in barrier 'b'");
  EXPECT_EQ(Insert(barrier, 1, {"x", "x"}, Ints({2}, {1, 2})),
            "key 'x' already has a value for component 1 in barrier 'b'");
  EXPECT_EQ(SizeOf(barrier, "BarrierReadySize"), 1);
  EXPECT_EQ(SizeOf(barrier, "BarrierIncompleteSize"), 1);
  EXPECT_EQ(Values<std::string>(Take(barrier, 1).All()[1]), (S{"y"}));
  EXPECT_EQ(Take(barrier, 0).All()[2].num_elements(), 0);
}

// A closed barrier completes what it has, until that is cancelled too.
TEST(KernelBarrier, Closed) {
  Tensor barrier = Barrier().One();
  EXPECT_EQ(Insert(barrier, 0, {"x", "y"}, Floats({2}, {1, 2})), "no error");
  EXPECT_EQ(Close(barrier, false), "no error");
  EXPECT_EQ(Close(barrier, false), "barrier 'b' is closed already");
  EXPECT_EQ(Insert(barrier, 1, {"x"}, Ints({1}, {7})), "no error");
  EXPECT_EQ(Insert(barrier, 1, {"z"}, Ints({1}, {7})),
            "barrier 'b' is closed, and 'z' is a new key");
  EXPECT_EQ(Take(barrier, 3).ErrorText(),
            "barrier 'b' is closed and has 1 elements, 3 were asked for");
  EXPECT_EQ(Values<int32_t>(Take(barrier, 3, true).All()[3]), (std::vector<int32_t>{7}));
  EXPECT_EQ(Take(barrier, 3, true).ErrorText(),
            "barrier 'b' is closed and has 0 elements, 3 were asked for");
  EXPECT_EQ(Close(barrier, true), "no error");
  EXPECT_EQ(Insert(barrier, 1, {"y"}, Ints({1}, {7})), "barrier 'b' is closed");
}

TEST(KernelBarrier, Errors) {
  Tensor barrier = Barrier().One();
  EXPECT_EQ(Insert(barrier, 2, {"x"}, Ints({1}, {7})), "component 2 of barrier 'b', which has 2");
  EXPECT_EQ(Insert(barrier, 0, {"x"}, Ints({1}, {7})),
            "component 0 is int32, barrier 'b' expects float");
  EXPECT_EQ(Insert(barrier, 1, {"x"}, Ints({2}, {7, 8})),
            "values of shape [2] for 1 keys: a row for each was expected");
  EXPECT_EQ(Insert(barrier, 1, {"x"}, Ints({1, 1}, {7})),
            "component 1 is of shape [1], barrier 'b' expects []");
  EXPECT_EQ(Take(barrier, -1).ErrorText(), "-1 elements were asked for");
  EXPECT_EQ(Barrier().Attr("capacity", attr::Int(3)).ErrorText(),
            "a barrier has no limit: capacity must be -1, got 3");
}

}  // namespace
}  // namespace grapnel
