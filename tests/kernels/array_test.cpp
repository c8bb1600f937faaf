// Kernels that move elements: shapes, slices, joins, look-ups.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using D = std::vector<int64_t>;

Tensor Shape32(std::vector<int32_t> values) { return Vec<int32_t>(std::move(values)); }

TEST(KernelShape, TellsSizes) {
  EXPECT_EQ(Values<int32_t>(OpRun("Shape").In(Iota<float>({2, 3})).Out({proto::DT_INT32}).One()),
            (V{2, 3}));
  EXPECT_EQ(Values<int64_t>(OpRun("Size").In(Iota<float>({2, 3})).Out({proto::DT_INT64}).One()),
            (D{6}));
  EXPECT_EQ(Values<int32_t>(OpRun("Rank").In(Iota<float>({2, 3})).Out({proto::DT_INT32}).One()),
            (V{2}));
  auto both = OpRun("ShapeN")
                  .In(Iota<float>({2}))
                  .In(Iota<float>({}))
                  .Out({proto::DT_INT32, proto::DT_INT32})
                  .All();
  EXPECT_EQ(DimsOf(both[1]), D{0});
}

TEST(KernelShape, BitcastsAcrossSizes) {
  Tensor bits = OpRun("Bitcast").In(Floats({1}, {1})).Out({proto::DT_INT32}).One();
  EXPECT_EQ(Values<int32_t>(bits), V{0x3f800000});
  EXPECT_EQ(DimsOf(OpRun("Bitcast").In(Iota<float>({3})).Out({proto::DT_UINT8}).One()), (D{3, 4}));
  EXPECT_EQ(DimsOf(OpRun("Bitcast").In(Iota<float>({3, 2})).Out({proto::DT_DOUBLE}).One()), D{3});
  EXPECT_EQ(OpRun("Bitcast").In(Iota<float>({3})).Out({proto::DT_DOUBLE}).ErrorText(),
            "cannot bitcast from float to double: the last dimension of [3] must be 2");
}

TEST(KernelConcat, JoinsAndTakesApart) {
  Tensor a = Ints({2, 1}, {1, 2}), b = Ints({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(Values<int32_t>(OpRun("ConcatV2").In(a).In(b).In(Ints({}, {-1})).One()),
            (V{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(Values<int32_t>(OpRun("Concat").In(Ints({}, {1})).In(b).In(a).One()),
            (V{3, 4, 1, 5, 6, 2}));
  EXPECT_EQ(OpRun("ConcatV2").In(a).In(b).In(Ints({}, {0})).ErrorText(),
            "all values must have the same shape except along axis 0: values[0] has shape [2,1], "
            "values[1] has shape [2,2]");
  EXPECT_EQ(Values<std::string>(OpRun("ConcatV2")
                                    .In(Vec<std::string>({"a"}))
                                    .In(Vec<std::string>({"b", "c"}))
                                    .In(Ints({}, {0}))
                                    .One()),
            (std::vector<std::string>{"a", "b", "c"}));
  Tensor packed =
      OpRun("Pack").In(Ints({2}, {1, 2})).In(Ints({2}, {3, 4})).Attr("axis", attr::Int(1)).One();
  EXPECT_EQ(Values<int32_t>(packed), (V{1, 3, 2, 4}));
  auto parts = OpRun("Unpack")
                   .In(packed)
                   .Attr("axis", attr::Int(-1))
                   .Out({proto::DT_INT32, proto::DT_INT32})
                   .All();
  EXPECT_EQ(Values<int32_t>(parts[1]), (V{3, 4}));
  auto split = OpRun("Split")
                   .In(Ints({}, {1}))
                   .In(Iota<int32_t>({2, 4}))
                   .Out({proto::DT_INT32, proto::DT_INT32})
                   .All();
  EXPECT_EQ(Values<int32_t>(split[1]), (V{2, 3, 6, 7}));
  EXPECT_EQ(OpRun("Split")
                .In(Ints({}, {0}))
                .In(Iota<int32_t>({3}))
                .Out({proto::DT_INT32, proto::DT_INT32})
                .ErrorText(),
            "the number of ways to split must evenly divide dimension 0 (size 3), got 2");
  auto sizes = OpRun("SplitV")
                   .In(Iota<int32_t>({5}))
                   .In(Shape32({2, -1}))
                   .In(Ints({}, {0}))
                   .Out({proto::DT_INT32, proto::DT_INT32})
                   .All();
  EXPECT_EQ(Values<int32_t>(sizes[1]), (V{2, 3, 4}));
  EXPECT_EQ(
      OpRun("SplitV")
          .In(Iota<int32_t>({5}))
          .In(Shape32({2, 2}))
          .In(Ints({}, {0}))
          .Out({proto::DT_INT32, proto::DT_INT32})
          .ErrorText(),
      "split sizes [2,2] must add up to dimension 0 (size 5), or to no more if one of them is -1");
  auto offsets = OpRun("ConcatOffset")
                     .In(Ints({}, {1}))
                     .In(Shape32({2, 3}))
                     .In(Shape32({2, 5}))
                     .Out({proto::DT_INT32, proto::DT_INT32})
                     .All();
  EXPECT_EQ(Values<int32_t>(offsets[1]), (V{0, 3}));
}

TEST(KernelTranspose, EveryPermutationOfThree) {
  Tensor x = Iota<int32_t>({3, 20, 33});
  const int kPerms[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (auto& perm : kPerms) {
    Tensor out = OpRun("Transpose").In(x).In(Shape32({perm[0], perm[1], perm[2]})).One();
    V values = Values<int32_t>(out);
    int64_t index[3];
    for (index[0] = 0; index[0] < 3; ++index[0]) {
      for (index[1] = 0; index[1] < 20; ++index[1]) {
        for (index[2] = 0; index[2] < 33; ++index[2]) {
          int64_t at = (index[perm[0]] * out.dim(1) + index[perm[1]]) * out.dim(2) + index[perm[2]];
          ASSERT_EQ(values[at], (index[0] * 20 + index[1]) * 33 + index[2]);
        }
      }
    }
  }
}

TEST(KernelSearch, FindsPlacesAndValues) {
  EXPECT_EQ(Values<int64_t>(OpRun("Where")
                                .In(Make<bool>({2, 2}, {true, false, false, true}))
                                .Out({proto::DT_INT64})
                                .One()),
            (D{0, 0, 1, 1}));
  EXPECT_EQ(DimsOf(OpRun("Where")
                       .In(Make<bool>({2, 2}, {false, false, false, false}))
                       .Out({proto::DT_INT64})
                       .One()),
            (D{0, 2}));
  auto unique = OpRun("UniqueWithCounts")
                    .In(Ints({5}, {3, 1, 3, 3, 2}))
                    .Out({proto::DT_INT32, proto::DT_INT32, proto::DT_INT64})
                    .All();
  EXPECT_EQ(Values<int32_t>(unique[0]), (V{3, 1, 2}));
  EXPECT_EQ(Values<int32_t>(unique[1]), (V{0, 1, 0, 0, 2}));
  EXPECT_EQ(Values<int64_t>(unique[2]), (D{3, 1, 1}));
  auto top = OpRun("TopKV2")
                 .In(Floats({2, 3}, {1, 3, 3, 5, 4, 6}))
                 .In(Ints({}, {2}))
                 .Out({proto::DT_FLOAT, proto::DT_INT32})
                 .All();
  EXPECT_EQ(Values<float>(top[0]), (std::vector<float>{3, 3, 6, 5}));
  EXPECT_EQ(Values<int32_t>(top[1]), (V{1, 2, 2, 0}));
  EXPECT_EQ(OpRun("TopKV2")
                .In(Floats({1}, {1}))
                .In(Ints({}, {2}))
                .Out({proto::DT_FLOAT, proto::DT_INT32})
                .ErrorText(),
            "input must have at least k columns: it has 1, k is 2");
}

TEST(KernelIdentity, PassesOnAndCopies) {
  Tensor x = Iota<float>({4});
  EXPECT_EQ(OpRun("Identity").In(x).One().raw(), x.raw());
  EXPECT_NE(OpRun("DeepCopy").In(x).One().raw(), x.raw());
  OpRun ensure("EnsureShape");
  ensure.In(x).Attr("shape", attr::ShapeOf(Shape(llvm::ArrayRef<int64_t>{-1, 2})));
  EXPECT_EQ(ensure.ErrorText(), "shape of tensor is [4], expected [?,2]");
}

TEST(KernelPartition, DealsRowsOut) {
  auto partition = [](V partitions) {
    OpRun run("DynamicPartition");
    run.In(Iota<float>({3, 2})).In(Shape32(std::move(partitions)));
    return run.Out({proto::DT_FLOAT, proto::DT_FLOAT});
  };
  auto out = partition({1, 0, 1}).All();
  EXPECT_EQ(DimsOf(out[0]), (D{1, 2}));
  EXPECT_EQ(Values<float>(out[0]), (std::vector<float>{2, 3}));
  EXPECT_EQ(Values<float>(out[1]), (std::vector<float>{0, 1, 4, 5}));
  EXPECT_EQ(DimsOf(partition({1, 1, 1}).All()[0]), (D{0, 2}));
  EXPECT_EQ(partition({0, 2, 0}).ErrorText(), "partitions[1] = 2 is not in [0, 2)");
  EXPECT_EQ(partition({0, 1}).ErrorText(),
            "data of shape [3,2] does not begin with the shape of partitions, [2]");
}

}  // namespace
}  // namespace grapnel
