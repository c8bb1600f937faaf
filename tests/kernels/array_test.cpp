// Kernels that move elements: shapes, slices, joins, look-ups.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using D = std::vector<int64_t>;

Tensor Shape32(std::vector<int32_t> values) { return Vec<int32_t>(std::move(values)); }

TEST(KernelShape, ReshapesAndInfersOneSize) {
  auto reshape = [](Tensor x, V shape) {
    return OpRun("Reshape").In(std::move(x)).In(Shape32(std::move(shape)));
  };
  EXPECT_EQ(DimsOf(reshape(Iota<float>({2, 6}), {3, -1}).One()), (D{3, 4}));
  EXPECT_EQ(DimsOf(reshape(Iota<float>({1}), {}).One()), D{});
  EXPECT_EQ(DimsOf(reshape(Iota<float>({0, 3}), {-1, 0}).One()), (D{3, 0}));
  EXPECT_EQ(DimsOf(reshape(Iota<float>({0, 3}), {-1, 5}).One()), (D{0, 5}));
  EXPECT_EQ(reshape(Iota<float>({3}), {-1, 2}).ErrorText(),
            "input to reshape is a tensor with 3 values, but the requested shape [-1,2] has 2");
  EXPECT_EQ(reshape(Iota<float>({3}), {-1, -1}).ErrorText(),
            "only one size may be -1, not both 0 and 1");
  EXPECT_EQ(reshape(Iota<float>({3}), {-2}).ErrorText(), "size 0 must be non-negative, not -2");
}

TEST(KernelShape, SqueezesAndExpands) {
  EXPECT_EQ(DimsOf(OpRun("Squeeze").In(Iota<float>({1, 3, 1})).One()), D{3});
  EXPECT_EQ(
      DimsOf(
          OpRun("Squeeze").In(Iota<float>({1, 3, 1})).Attr("squeeze_dims", attr::Ints({-1})).One()),
      (D{1, 3}));
  EXPECT_EQ(
      OpRun("Squeeze").In(Iota<float>({1, 3})).Attr("squeeze_dims", attr::Ints({1})).ErrorText(),
      "cannot squeeze dimension 1 of shape [1,3]: expected 1, got 3");
  EXPECT_EQ(DimsOf(OpRun("ExpandDims").In(Iota<float>({2, 3})).In(Ints({}, {-1})).One()),
            (D{2, 3, 1}));
  EXPECT_EQ(OpRun("ExpandDims").In(Iota<float>({2, 3})).In(Ints({}, {4})).ErrorText(),
            "expected an axis in [-3, 3), got 4");
}

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

TEST(KernelShape, GradientArgsNameTheAxesToSum) {
  auto args = [](const V& a, const V& b) {
    auto out = OpRun("BroadcastGradientArgs")
                   .In(Shape32(a))
                   .In(Shape32(b))
                   .Out({proto::DT_INT32, proto::DT_INT32})
                   .All();
    return std::pair(Values<int32_t>(out[0]), Values<int32_t>(out[1]));
  };
  EXPECT_EQ(args({1, 3, 1}, {2, 1, 1}), std::pair(V({0, 2}), V({1, 2})));
  EXPECT_EQ(args({1, 3, 1}, {1, 3, 1}), std::pair(V{}, V{}));
  EXPECT_EQ(args({}, {3, 1}), std::pair(V({0, 1}), V({1})));
  EXPECT_EQ(Values<int32_t>(OpRun("BroadcastArgs").In(Shape32({2, 1})).In(Shape32({3})).One()),
            (V{2, 3}));
}

TEST(KernelShape, BitcastsAcrossSizes) {
  Tensor bits = OpRun("Bitcast").In(Floats({1}, {1})).Out({proto::DT_INT32}).One();
  EXPECT_EQ(Values<int32_t>(bits), V{0x3f800000});
  EXPECT_EQ(DimsOf(OpRun("Bitcast").In(Iota<float>({3})).Out({proto::DT_UINT8}).One()), (D{3, 4}));
  EXPECT_EQ(DimsOf(OpRun("Bitcast").In(Iota<float>({3, 2})).Out({proto::DT_DOUBLE}).One()), D{3});
  EXPECT_EQ(OpRun("Bitcast").In(Iota<float>({3})).Out({proto::DT_DOUBLE}).ErrorText(),
            "cannot bitcast from float to double: the last dimension of [3] must be 2");
}

TEST(KernelFill, MakesTensors) {
  EXPECT_EQ(Values<int32_t>(
                OpRun("Fill").In(Shape32({2, 2})).In(Ints({}, {7})).Out({proto::DT_INT32}).One()),
            (V{7, 7, 7, 7}));
  EXPECT_EQ(OpRun("Fill").In(Shape32({-2})).In(Ints({}, {7})).ErrorText(),
            "a shape must not have negative sizes, got [-2]");
  EXPECT_EQ(OpRun("Fill").In(Vec<int64_t>({1LL << 40, 1LL << 40})).In(Ints({}, {7})).ErrorText(),
            "a tensor of shape [1099511627776,1099511627776] is larger than memory");
  EXPECT_EQ(Values<int32_t>(OpRun("OnesLike").In(Ints({2}, {5, 6})).One()), (V{1, 1}));
  EXPECT_EQ(Values<std::string>(OpRun("ZerosLike").In(Vec<std::string>({"a"})).One()),
            std::vector<std::string>{""});
  Tensor line = OpRun("LinSpace").In(Scalar(1.0f)).In(Scalar(2.0f)).In(Ints({}, {5})).One();
  EXPECT_EQ(Values<float>(line), (std::vector<float>{1, 1.25f, 1.5f, 1.75f, 2}));
}

TEST(KernelFill, CountsRanges) {
  auto range = [](int32_t start, int32_t limit, int32_t delta) {
    return OpRun("Range")
        .In(Ints({}, {start}))
        .In(Ints({}, {limit}))
        .In(Ints({}, {delta}))
        .Attr("Tidx", attr::Type(proto::DT_INT32));
  };
  EXPECT_EQ(Values<int32_t>(range(0, 7, 3).One()), (V{0, 3, 6}));
  EXPECT_EQ(Values<int32_t>(range(5, 0, -2).One()), (V{5, 3, 1}));
  EXPECT_EQ(DimsOf(range(5, 5, 1).One()), D{0});
  EXPECT_EQ(range(0, 1, 0).ErrorText(), "requires delta != 0: 0");
  EXPECT_NE(range(5, 0, 1).ErrorText(), "no error");
}

TEST(KernelFill, OneHotRowsOnAnyAxis) {
  auto run = [](int64_t axis) {
    return OpRun("OneHot")
        .In(Ints({2}, {1, 5}))
        .In(Ints({}, {3}))
        .In(Ints({}, {1}))
        .In(Ints({}, {0}))
        .Attr("axis", attr::Int(axis))
        .One();
  };
  EXPECT_EQ(Values<int32_t>(run(-1)), (V{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(DimsOf(run(0)), (D{3, 2}));
  EXPECT_EQ(Values<int32_t>(run(0)), (V{0, 0, 1, 0, 0, 0}));
}

TEST(KernelSlice, TakesBoxes) {
  Tensor x = Iota<int32_t>({3, 4});
  Tensor out = OpRun("Slice").In(x).In(Shape32({1, 1})).In(Shape32({-1, 2})).One();
  EXPECT_EQ(DimsOf(out), (D{2, 2}));
  EXPECT_EQ(Values<int32_t>(out), (V{5, 6, 9, 10}));
  EXPECT_EQ(OpRun("Slice").In(x).In(Shape32({4, 0})).In(Shape32({0, 0})).ErrorText(),
            "expected begin[0] in [0, 3], got 4");
  EXPECT_EQ(OpRun("Slice").In(x).In(Shape32({1, 0})).In(Shape32({3, 0})).ErrorText(),
            "expected size[0] in [0, 2], got 3");
  EXPECT_EQ(OpRun("Slice").In(x).In(Shape32({1})).In(Shape32({3})).ErrorText(),
            "expected begin and size to be vectors of 2 elements, got shapes [1] and [1]");
}

struct Strided {
  V begin, end, strides;
  int begin_mask = 0, end_mask = 0, ellipsis = 0, new_axis = 0, shrink = 0;
  OpRun& Prepare(OpRun& run, Tensor x) const {
    return run.In(std::move(x))
        .In(Shape32(begin))
        .In(Shape32(end))
        .In(Shape32(strides))
        .Attr("begin_mask", attr::Int(begin_mask))
        .Attr("end_mask", attr::Int(end_mask))
        .Attr("ellipsis_mask", attr::Int(ellipsis))
        .Attr("new_axis_mask", attr::Int(new_axis))
        .Attr("shrink_axis_mask", attr::Int(shrink));
  }
  Tensor Of(Tensor x) const {
    OpRun run("StridedSlice");
    return Prepare(run, std::move(x)).One();
  }
  std::string ErrorOf(Tensor x) const {
    OpRun run("StridedSlice");
    return Prepare(run, std::move(x)).ErrorText();
  }
};

TEST(KernelStridedSlice, ReadsEveryMask) {
  Tensor x = Iota<int32_t>({2, 3, 4});
  // x[:, 1:3, ::-2]
  Tensor a = Strided{{0, 1, 0}, {0, 3, 0}, {1, 1, -2}, 5, 5}.Of(x);
  EXPECT_EQ(DimsOf(a), (D{2, 2, 2}));
  EXPECT_EQ(Values<int32_t>(a), (V{7, 5, 11, 9, 19, 17, 23, 21}));
  // x[..., 1]
  Tensor b = Strided{{0, 1}, {0, 2}, {1, 1}, 0, 0, 1, 0, 2}.Of(x);
  EXPECT_EQ(DimsOf(b), (D{2, 3}));
  EXPECT_EQ(Values<int32_t>(b), (V{1, 5, 9, 13, 17, 21}));
  // x[-1, None, 0:100]
  Tensor c = Strided{{-1, 0, 0}, {0, 0, 100}, {1, 1, 1}, 0, 0, 0, 2, 1}.Of(x);
  EXPECT_EQ(DimsOf(c), (D{1, 3, 4}));
  EXPECT_EQ(c.data<int32_t>()[0], 12);
  // x[...]
  EXPECT_EQ(DimsOf(Strided{{0}, {0}, {1}, 0, 0, 1}.Of(x)), (D{2, 3, 4}));
  // x[1:1], x[5:9]
  EXPECT_EQ(DimsOf(Strided{{1}, {1}, {1}}.Of(x)), (D{0, 3, 4}));
  EXPECT_EQ(DimsOf(Strided{{5}, {9}, {1}}.Of(x)), (D{0, 3, 4}));
  // A begin mask does not count where one element is taken.
  EXPECT_EQ(Values<int32_t>(Strided{{3}, {4}, {1}, 1, 0, 0, 0, 1}.Of(Iota<int32_t>({5}))), V{3});
  // x[::INT_MIN] of a vector takes its last element only.
  EXPECT_EQ(Values<int32_t>(Strided{{0}, {0}, {INT32_MIN}, 1, 1}.Of(Iota<int32_t>({5}))), V{4});
}

TEST(KernelStridedSlice, RefusesWhatCannotBe) {
  Tensor x = Iota<int32_t>({2, 3});
  EXPECT_EQ((Strided{{0}, {1}, {0}}.ErrorOf(x)), "strides[0] must be non-zero");
  EXPECT_EQ((Strided{{2}, {3}, {1}, 0, 0, 0, 0, 1}.ErrorOf(x)),
            "slice index 2 of dimension 0 out of bounds: it has 2 elements");
  EXPECT_EQ((Strided{{0, 0, 0}, {1, 1, 1}, {1, 1, 1}}.ErrorOf(x)),
            "a slice with 3 subscripts does not fit an input of 2 dimensions");
  EXPECT_EQ((Strided{{0, 0}, {1, 1}, {1, 1}, 0, 0, 3}.ErrorOf(x)),
            "multiple ellipses in slice spec not allowed");
}

TEST(KernelConcat, JoinsAndTakesApart) {
  Tensor a = Ints({2, 1}, {1, 2}), b = Ints({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(Values<int32_t>(OpRun("ConcatV2").In(a).In(b).In(Ints({}, {-1})).One()),
            (V{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(Values<int32_t>(OpRun("Concat").In(Ints({}, {1})).In(b).In(a).One()),
            (V{3, 4, 1, 5, 6, 2}));
  EXPECT_EQ(OpRun("ConcatV2").In(a).In(b).In(Ints({}, {0})).ErrorText(),
            "all inputs must agree except along axis 0: input 0 has shape [2,1], input 1 has shape "
            "[2,2]");
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
  EXPECT_EQ(OpRun("SplitV")
                .In(Iota<int32_t>({5}))
                .In(Shape32({2, 2}))
                .In(Ints({}, {0}))
                .Out({proto::DT_INT32, proto::DT_INT32})
                .ErrorText(),
            "split sizes [2,2] do not add up to dimension 0 (size 5)");
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

TEST(KernelTranspose, ConjugatesAndRefuses) {
  Tensor z = OpRun("ConjugateTranspose")
                 .In(Make<Complex64>({1, 2}, {{1, 2}, {3, 4}}))
                 .In(Shape32({1, 0}))
                 .One();
  EXPECT_EQ(Values<Complex64>(z), (std::vector<Complex64>{{1, -2}, {3, -4}}));
  EXPECT_EQ(OpRun("Transpose").In(Iota<float>({2, 2})).In(Shape32({0, 0})).ErrorText(),
            "0 is twice in the permutation [0,0]");
  EXPECT_EQ(Values<int32_t>(OpRun("InvertPermutation").In(Shape32({2, 0, 1})).One()), (V{1, 2, 0}));
  EXPECT_EQ(OpRun("InvertPermutation").In(Shape32({0, 3})).ErrorText(), "3 is not between 0 and 2");
}

TEST(KernelTranspose, DepthAndSpaceAreInverse) {
  Tensor x = Iota<int32_t>({1, 2, 2, 4});
  Tensor space = OpRun("DepthToSpace").In(x).Attr("block_size", attr::Int(2)).One();
  EXPECT_EQ(DimsOf(space), (D{1, 4, 4, 1}));
  EXPECT_EQ(Values<int32_t>(space), (V{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
  EXPECT_EQ(Values<int32_t>(OpRun("SpaceToDepth").In(space).Attr("block_size", attr::Int(2)).One()),
            Values<int32_t>(x));
}

TEST(KernelPad, PadsMirrorsTilesAndTurns) {
  Tensor x = Ints({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(
      Values<int32_t>(OpRun("PadV2").In(x).In(Ints({2, 2}, {1, 0, 0, 1})).In(Ints({}, {9})).One()),
      (V{9, 9, 9, 1, 2, 9, 3, 4, 9}));
  EXPECT_EQ(OpRun("Pad").In(x).In(Ints({2, 2}, {-1, 0, 0, 0})).ErrorText(),
            "paddings must be non-negative: -1 0");
  Tensor row = Ints({1, 3}, {1, 2, 3});
  auto mirror = [&](const char* mode) {
    return Values<int32_t>(OpRun("MirrorPad")
                               .In(row)
                               .In(Ints({2, 2}, {0, 0, 2, 2}))
                               .Attr("mode", attr::String(mode))
                               .One());
  };
  EXPECT_EQ(mirror("REFLECT"), (V{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(mirror("SYMMETRIC"), (V{2, 1, 1, 2, 3, 3, 2}));
  Tensor corners = OpRun("MirrorPad")
                       .In(x)
                       .In(Ints({2, 2}, {1, 1, 1, 0}))
                       .Attr("mode", attr::String("REFLECT"))
                       .One();
  EXPECT_EQ(Values<int32_t>(corners), (V{4, 3, 4, 2, 1, 2, 4, 3, 4, 2, 1, 2}));
  EXPECT_EQ(Values<int32_t>(OpRun("Tile").In(x).In(Shape32({2, 2})).One()),
            (V{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(DimsOf(OpRun("Tile").In(x).In(Shape32({0, 2})).One()), (D{0, 4}));
  EXPECT_EQ(
      Values<int32_t>(OpRun("BroadcastTo").In(Ints({2, 1}, {1, 2})).In(Shape32({2, 2, 2})).One()),
      (V{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(OpRun("BroadcastTo").In(x).In(Shape32({3, 2})).ErrorText(),
            "incompatible shapes: [2,2] vs. [3,2]");
  EXPECT_EQ(Values<int32_t>(OpRun("ReverseV2").In(x).In(Shape32({-1, 0})).One()), (V{4, 3, 2, 1}));
  EXPECT_EQ(Values<int32_t>(OpRun("ReverseV2").In(x).In(Shape32({1})).One()), (V{2, 1, 4, 3}));
  EXPECT_EQ(OpRun("ReverseV2").In(x).In(Shape32({1, -1})).ErrorText(),
            "axis 1 is specified more than once");
  EXPECT_EQ(Values<int32_t>(
                OpRun("Roll").In(Iota<int32_t>({5})).In(Ints({}, {-2})).In(Ints({}, {0})).One()),
            (V{2, 3, 4, 0, 1}));
  EXPECT_EQ(Values<int32_t>(OpRun("Roll").In(x).In(Shape32({1, 1})).In(Shape32({0, 1})).One()),
            (V{4, 3, 2, 1}));
}

TEST(KernelGather, LooksUp) {
  Tensor table = Iota<int32_t>({3, 2});
  EXPECT_EQ(
      Values<int32_t>(OpRun("GatherV2").In(table).In(Ints({2}, {2, 0})).In(Ints({}, {0})).One()),
      (V{4, 5, 0, 1}));
  EXPECT_EQ(
      Values<int32_t>(OpRun("GatherV2").In(table).In(Ints({1}, {1})).In(Ints({}, {-1})).One()),
      (V{1, 3, 5}));
  EXPECT_EQ(Values<int32_t>(OpRun("GatherV2")
                                .In(Iota<int32_t>({2, 3}))
                                .In(Ints({2, 2}, {2, 0, 1, 1}))
                                .In(Ints({}, {1}))
                                .Attr("batch_dims", attr::Int(1))
                                .One()),
            (V{2, 0, 4, 4}));
  EXPECT_EQ(OpRun("Gather").In(Iota<float>({10})).In(Ints({4}, {0, 1, 2, 17})).ErrorText(),
            "indices[3] = 17 is not in [0, 10)");
  EXPECT_EQ(OpRun("Gather").In(Iota<float>({10})).In(Ints({1, 2}, {0, -1})).ErrorText(),
            "indices[0,1] = -1 is not in [0, 10)");
  EXPECT_EQ(Values<std::string>(OpRun("GatherNd")
                                    .In(Make<std::string>({2, 2}, {"a", "b", "c", "d"}))
                                    .In(Ints({2, 2}, {0, 1, 1, 0}))
                                    .One()),
            (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(Values<int32_t>(OpRun("GatherNd").In(table).In(Ints({1, 1}, {1})).One()), (V{2, 3}));
  EXPECT_EQ(OpRun("GatherNd").In(table).In(Ints({1, 2}, {0, 5})).ErrorText(),
            "indices[0] = [0,5] does not index into shape [3,2]");
}

TEST(KernelScatter, WritesAndAdds) {
  EXPECT_EQ(Values<int32_t>(OpRun("ScatterNd")
                                .In(Ints({3, 1}, {0, 2, 0}))
                                .In(Ints({3}, {1, 2, 3}))
                                .In(Shape32({4}))
                                .Out({proto::DT_INT32})
                                .One()),
            (V{4, 0, 2, 0}));
  EXPECT_EQ(
      OpRun("ScatterNd").In(Ints({1, 1}, {5})).In(Ints({1}, {1})).In(Shape32({3})).ErrorText(),
      "indices[0] = [5] does not index into shape [3]");
  Tensor x = Iota<int32_t>({3});
  EXPECT_EQ(Values<int32_t>(
                OpRun("TensorScatterUpdate").In(x).In(Ints({1, 1}, {1})).In(Ints({1}, {9})).One()),
            (V{0, 9, 2}));
  EXPECT_EQ(Values<int32_t>(x), (V{0, 1, 2}));
  EXPECT_EQ(
      Values<int32_t>(
          OpRun("TensorScatterMax").In(x).In(Ints({2, 1}, {1, 2})).In(Ints({2}, {9, 0})).One()),
      (V{0, 9, 2}));
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

TEST(KernelMatrix, DiagonalsAndBands) {
  EXPECT_EQ(Values<int32_t>(OpRun("MatrixDiag").In(Ints({2}, {1, 2})).One()), (V{1, 0, 0, 2}));
  EXPECT_EQ(Values<int32_t>(OpRun("MatrixDiagPart").In(Iota<int32_t>({2, 3})).One()), (V{0, 4}));
  auto band = [](int32_t lower, int32_t upper) {
    return Values<int32_t>(OpRun("MatrixBandPart")
                               .In(Ints({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}))
                               .In(Ints({}, {lower}))
                               .In(Ints({}, {upper}))
                               .One());
  };
  EXPECT_EQ(band(0, -1), (V{1, 2, 3, 0, 5, 6, 0, 0, 9}));
  EXPECT_EQ(band(1, 0), (V{1, 0, 0, 4, 5, 0, 0, 8, 9}));
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
