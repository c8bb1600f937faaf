#include "lib/support/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace grapnel {
namespace {

using Names = std::vector<std::string>;

Names Near(llvm::StringRef text, const Names& names) {
  return NearNames(text, [&](NameSink take) {
    for (const std::string& name : names) take(name);
  });
}

TEST(Suggest, FewLettersDiffer) {
  EXPECT_EQ(Near("MatMull", {"Mat", "MatMul", "Relu"}), (Names{"MatMul"}));
  EXPECT_EQ(Near("relu", {"relu_1", "elu", "Relu", "tanh"}), (Names{"Relu", "elu", "relu_1"}));
  EXPECT_EQ(Near("model_prunner", {"model_pruner", "remapper"}), (Names{"model_pruner"}));
  EXPECT_EQ(Near("conv2d", {"convert"}), (Names{}));  // three of six
  EXPECT_EQ(Near("softmax_cross_entropy", {"softmax_cros_entrpy_1", "softmax_cros_ntrpy_1"}),
            (Names{"softmax_cros_entrpy_1"}));  // four of twenty; five are too many
}

TEST(Suggest, NothingTwiceAsFarAsTheNearest) {
  EXPECT_EQ(Near("remapper/fuse_byas", {"remapper/fuse_bias", "remapper/fuse_gelu"}),
            (Names{"remapper/fuse_bias"}));
  EXPECT_EQ(Near("remapper/fuse_byas", {"remapper/fuse_gelu"}), (Names{"remapper/fuse_gelu"}));
}

TEST(Suggest, ShortNamesMustShareALetter) {
  EXPECT_EQ(Near("x", {"y", "z"}), (Names{}));
  EXPECT_EQ(Near("x", {"X"}), (Names{"X"}));
  EXPECT_EQ(Near("abs", {"add", "abc"}), (Names{"abc"}));
}

TEST(Suggest, ScopesBesideComeAfterNoneBeside) {
  EXPECT_EQ(Near("op5", {"s1/op5", "s0/op5", "s2/op5", "s3/op5"}),
            (Names{"s0/op5", "s1/op5", "s2/op5"}));
  EXPECT_EQ(Near("relu", {"block/conv/relu", "block/Relu", "rel"}),
            (Names{"block/conv/relu", "block/Relu", "rel"}));
  EXPECT_EQ(Near("dense/kernel", {"model/dense/kernel", "dense/bias", "dense_1/kernel"}),
            (Names{"model/dense/kernel", "dense_1/kernel"}));
  EXPECT_EQ(Near("model/dense/Relu", {"dense/Relu", "Relu"}), (Names{"dense/Relu"}));
}

TEST(Suggest, ANameThatHoldsTheTextIsTheLastHope) {
  EXPECT_EQ(Near("fold", {"constant_folding", "remapper"}), (Names{"constant_folding"}));
  EXPECT_EQ(Near("fold", {"constant_folding", "gold"}), (Names{"gold"}));
  EXPECT_EQ(Near("zz", {"constant_folding"}), (Names{}));
  EXPECT_EQ(Near("old/scope/Softmax", {"new/place/of/softmax", "old/scope/MatMul"}),
            (Names{"new/place/of/softmax"}));
}

TEST(Suggest, EachNameOnceInOneOrder) {
  Names names = {"add_1", "add_2", "add_3", "add_4", "Add", "add_1"};
  std::sort(names.begin(), names.end());
  do {
    ASSERT_EQ(Near("add", names), (Names{"Add"}));
    ASSERT_EQ(Near("add_", names), (Names{"Add", "add_1", "add_2"}));
  } while (std::next_permutation(names.begin(), names.end()));
}

// Compares with the full Levenshtein table, on words of few letters, where many are near.
TEST(Suggest, DistancesAreThoseOfThePlainAlgorithm) {
  auto distance = [](const std::string& a, const std::string& b) {
    std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i) {
      for (size_t j = 0; j <= b.size(); ++j) {
        d[i][j] = i == 0   ? j
                  : j == 0 ? i
                           : std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                                       d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      }
    }
    return d[a.size()][b.size()];
  };
  uint32_t state = 1;
  auto word = [&] {
    std::string text;
    state = state * 1664525 + 1013904223;
    for (size_t n = 8 + (state >> 24) % 6; text.size() < n;) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>('a' + (state >> 28) % 3);
    }
    return text;
  };
  int near = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string a = word(), b = word();
    size_t most = std::max<size_t>(2, a.size() / 4);
    bool holds = llvm::StringRef(b).contains(a);
    bool expected = distance(a, b) <= most || holds;
    near += expected;
    ASSERT_EQ(Near(a, {b}).size(), expected) << a << " " << b;
  }
  EXPECT_GT(near, 50);
}

TEST(Suggest, TheHintListsAFewNamesWhereNoneIsNear) {
  EXPECT_EQ(DidYouMean("Rellu", Names{"Relu", "Tanh"}), "; did you mean 'Relu'?");
  EXPECT_EQ(DidYouMean("zzz", Names{"train", "serve"}), "; there are 'train', 'serve'");
  EXPECT_EQ(DidYouMean("zzz", Names{"train", "train"}), "; there is only 'train'");
  EXPECT_EQ(DidYouMean("zzz", Names{}), "; there are none");
  EXPECT_EQ(DidYouMean("zzz", Names{""}), "; there is only one, without a name");
  EXPECT_EQ(DidYouMean("zzz", Names{"a", "b", "c", "d", "e", "f", "g", "h", "i"}), "");
}

TEST(Suggest, OneFormOfMessage) {
  auto text = [](Error error) { return TextOf(std::move(error)); };
  EXPECT_EQ(text(NotFound("node", "relu", Names{"Relu", "relu_1"})),
            "node 'relu' not found; did you mean 'Relu', 'relu_1'?");
  EXPECT_EQ(text(NotFound("node", "x", Names{}, " in function 'f'")),
            "node 'x' not found in function 'f'; there are none");
}

TEST(Suggest, SurvivesAnyName) {
  EXPECT_EQ(Near("", {"a", "", "/"}), (Names{}));
  EXPECT_EQ(Near("///", {"//", "a/b/c/d"}), (Names{"//"}));
  EXPECT_EQ(Near(std::string(100000, 'a'), {std::string(100004, 'a')}).size(), 1u);
  EXPECT_EQ(Near("\xff\xfe\xfd\xfc", {"\xff\xfe\xfd"}).size(), 1u);
}

}  // namespace
}  // namespace grapnel
