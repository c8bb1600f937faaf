#include "lib/pass/op_pattern.h"

#include <gtest/gtest.h>

#include "lib/ir/text.h"
#include "lib/pass/registry.h"

namespace grapnel {
namespace {

std::string ErrorOf(llvm::StringRef pattern) {
  auto parsed = OpPattern::ParseAll(pattern, {"Relu", "Elu"});
  return parsed ? "" : TextOf(parsed.takeError());
}

TEST(OpPatternTest, Parses) {
  auto parsed =
      OpPattern::ParseAll("(t:BiasAdd|Add(MatMul, _), 0.5) ; Mul(x, Const)", {"Relu", "Elu"});
  ASSERT_TRUE(static_cast<bool>(parsed)) << TextOf(parsed.takeError());
  ASSERT_EQ(parsed->size(), 2u);
  const std::vector<OpPattern::Step>& steps = (*parsed)[0].steps;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].ops, (std::vector<std::string>{"Relu", "Elu"}));
  EXPECT_EQ(steps[1].ops, (std::vector<std::string>{"BiasAdd", "Add"}));
  EXPECT_EQ(steps[1].name, "t");
  EXPECT_EQ(steps[1].inputs, (std::vector<int>{2, 3}));
  EXPECT_EQ(steps[3].kind, OpPattern::Step::kAny);
  EXPECT_EQ(steps[4].kind, OpPattern::Step::kNumber);
  EXPECT_EQ(steps[4].number, 0.5);
  EXPECT_EQ(steps[4].parent, 0);
  EXPECT_EQ((*parsed)[1].steps[1].name, "x");
  EXPECT_EQ((*parsed)[1].steps[2].kind, OpPattern::Step::kConstant);
}

TEST(OpPatternTest, MistakesSayWhatWasExpected) {
  EXPECT_EQ(ErrorOf("(MatMul"), "pattern '(MatMul': ',' or ')' was expected at ''");
  EXPECT_EQ(ErrorOf("()"), "pattern '()': an op, a number or a name was expected at ')'");
  EXPECT_EQ(ErrorOf("x"), "pattern 'x': an op was expected at ''");
  EXPECT_EQ(ErrorOf("Mul(x) y"), "pattern 'Mul(x) y': the end, or ';' was expected at 'y'");
}

// The patterns of grapnel's own rules are parsed when a user asks, and must not fail then.
TEST(OpPatternTest, RulesHavePatternsThatParse) {
  int count = 0;
  for (const PassRegistry::Entry* pass : PassRegistry::Get().Passes()) {
    for (const Rule* rule : PassRegistry::Get().RulesOf(pass->info.name)) {
      auto parsed = OpPattern::ParseAll(rule->pattern, rule->ops);
      EXPECT_TRUE(static_cast<bool>(parsed)) << rule->name << ": " << TextOf(parsed.takeError());
      count += parsed && !parsed->empty();
      if (!parsed || rule->ops.empty()) continue;
      for (const OpPattern& pattern : *parsed) {
        for (const OpPattern::Step& step : pattern.steps) {
          for (const std::string& op : step.ops) {
            // Grappler's rules name ops that TensorFlow does not have, such as Shuffle.
            if (llvm::is_contained(rule->ops, op)) continue;
            EXPECT_TRUE(FindOp(op) != nullptr) << rule->name << ": there is no op " << op;
          }
        }
      }
    }
  }
  EXPECT_GT(count, 40);
}

class ClosestMatchTest : public testing::Test {
 protected:
  // Parses a graph, and returns the closest match of the pattern at the node.
  std::optional<PatternMatch> Match(const char* pattern, const char* node,
                                    const std::string& text) {
    graphs_ = ReadGraphText(*FileBytes::FromString(text, "test.gtxt"));
    EXPECT_TRUE(graphs_[0].module->problems.empty());
    auto parsed = OpPattern::ParseAll(pattern, {});
    EXPECT_TRUE(static_cast<bool>(parsed));
    return ClosestMatch(parsed->front(), graphs_[0].module->main.Find(node));
  }
  static std::string Names(llvm::ArrayRef<Node> nodes) {
    std::string names;
    for (const Node& node : nodes) names += node.name().str() + " ";
    return names;
  }
  std::vector<TextGraph> graphs_;
};

constexpr const char* kLayer =
    "%x = Placeholder {dtype=float, shape=[2,3]}\n"
    "%w = Placeholder {dtype=float, shape=[3,4]}\n"
    "%c = Placeholder {dtype=float, shape=[4]}\n"
    "%m = MatMul(%x, %w)\n";

TEST_F(ClosestMatchTest, OfAllNodesOfAMatch) {
  std::string text = std::string(kLayer) + "%b = BiasAdd(%m, %c)\n%r = Relu(%b)\n";
  for (const char* node : {"m", "b", "r"}) {
    auto match = Match("Relu(BiasAdd(MatMul))", node, text);
    ASSERT_TRUE(match) << node;
    EXPECT_EQ(match->distance, 0) << node;
    EXPECT_EQ(Names(match->nodes), "m b r ") << node;
  }
  EXPECT_FALSE(Match("Relu(BiasAdd(MatMul))", "x", text));
}

TEST_F(ClosestMatchTest, InputsOfASumMayBeInAnyOrder) {
  auto match = Match("AddV2(MatMul)", "m", std::string(kLayer) + "%s = AddV2(%c, %m)\n");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->distance, 0);
}

TEST_F(ClosestMatchTest, AnotherOrderIsAGapElsewhere) {
  auto match = Match("Sub(MatMul)", "m", std::string(kLayer) + "%s = Sub(%c, %m)\n");
  ASSERT_TRUE(match);
  EXPECT_GT(match->distance, kFoundOps);
  EXPECT_EQ(match->gaps[0].reason, "'s' (Sub) reads 'm' as its input 1, input 0 was expected");
}

TEST_F(ClosestMatchTest, PassesThroughNodes) {
  std::string text =
      std::string(kLayer) + "%i = Identity(%m)\n%t = Tanh(%i)\n%b = BiasAdd(%t, %c)\n";
  for (const char* node : {"m", "b"}) {
    auto match = Match("BiasAdd(MatMul)", node, text);
    ASSERT_TRUE(match) << node;
    EXPECT_EQ(match->distance, 3) << node;
    ASSERT_EQ(match->gaps.size(), 1u) << node;
    EXPECT_EQ(match->gaps[0].reason,
              "'i' (Identity) and 't' (Tanh) are between 'm' (MatMul) and 'b' (BiasAdd)");
    EXPECT_EQ(Names(match->gaps[0].between), "i t ");
  }
}

TEST_F(ClosestMatchTest, NotThroughANodeOfTheSameStep) {
  std::string text = std::string(kLayer) +
                     "%v = Placeholder {dtype=float, shape=[4,4]}\n"
                     "%n = MatMul(%m, %v)\n%b = BiasAdd(%n, %c)\n";
  auto match = Match("BiasAdd(MatMul)", "m", text);
  ASSERT_TRUE(match);
  EXPECT_GT(match->distance, kFoundOps);
  EXPECT_EQ(match->gaps[0].reason, "no BiasAdd reads 'm' (MatMul), which is read by 'n' (MatMul)");
}

TEST_F(ClosestMatchTest, ComparesTensors) {
  auto match = Match("Mul(x, Sigmoid(x))", "s",
                     "%a = Placeholder {dtype=float}\n%b = Placeholder {dtype=float}\n"
                     "%s = Sigmoid(%b)\n%y = Mul(%a, %s)\n");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->gaps[0].reason,
            "'s' (Sigmoid) reads 'b:0', and 'y' (Mul) reads 'a:0': one tensor was expected");
}

TEST_F(ClosestMatchTest, ComparesConstants) {
  auto match = Match("Maximum(x, Mul(x, Const))", "y",
                     "%a = Placeholder {dtype=float}\n%b = Placeholder {dtype=float}\n"
                     "%m = Mul(%a, %b)\n%y = Maximum(%a, %m)\n");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->gaps[0].reason, "'b' (Placeholder) is not a constant");
  match = Match("Mul(x, 0.5)", "y", "%a = Placeholder {dtype=float}\n%y = Mul(%a, 0.4)\n");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->gaps[0].reason, "'y/y' is 0.4, 0.5 was expected");
}

}  // namespace
}  // namespace grapnel
