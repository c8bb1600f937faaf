#include "lib/query/path_pattern.h"

#include "gtest/gtest.h"

namespace grapnel {
namespace {

PathPattern Parse(llvm::StringRef text) {
  auto pattern = PathPattern::Parse(text);
  if (!pattern) {
    ADD_FAILURE() << TextOf(pattern.takeError());
    return {};
  }
  return std::move(*pattern);
}

std::string ErrorOf(llvm::StringRef text) {
  auto pattern = PathPattern::Parse(text);
  return pattern ? "" : TextOf(pattern.takeError());
}

// a -> b -> d and a -> c -> d; d -> e.
class PathPatternTest : public testing::Test {
 protected:
  void SetUp() override {
    Add("a", "Const", {});
    Add("b", "Relu", {"a"});
    Add("c", "Neg", {"a"});
    Add("d", "AddV2", {"b", "c"});
    Add("e", "Softmax", {"d"});
  }
  void Add(const char* name, const char* op, const std::vector<const char*>& inputs) {
    NodeId id = module_.main.AddNode(name, op);
    for (const char* input : inputs) module_.main.AddInput(id, {module_.main.Find(input).id(), 0});
  }
  std::vector<std::string> Find(llvm::StringRef text, size_t limit = 100) {
    std::vector<std::string> found;
    PathPattern pattern = Parse(text);
    for (const NodePath& path : FindPaths(module_.main, pattern, limit)) {
      std::string names;
      for (NodeId id : path) names += module_.main.node(id).name();
      found.push_back(names);
    }
    return found;
  }
  std::string FindTo(const char* last, llvm::StringRef text) {
    std::string names;
    for (NodeId id : FindPathTo(module_.main.Find(last), Parse(text)))
      names += module_.main.node(id).name();
    return names;
  }
  Module module_;
};

using Names = std::vector<std::string>;

TEST_F(PathPatternTest, FindsEveryChain) {
  EXPECT_EQ(Find("Const -> * -> AddV2"), (Names{"abd", "acd"}));
  EXPECT_EQ(Find("Const->Relu->AddV2"), (Names{"abd"}));
  EXPECT_EQ(Find("S*"), (Names{"e"}));
  EXPECT_EQ(Find("Relu -> Softmax"), Names{});
  EXPECT_EQ(Find("* -> *", 2).size(), 2u);
}

TEST_F(PathPatternTest, AGapIsAnyNumberOfNodes) {
  EXPECT_EQ(Find("Const -> ** -> Softmax"), (Names{"abde"}));
  EXPECT_EQ(Find("AddV2 -> ** -> Softmax"), (Names{"de"}));
  EXPECT_EQ(Find("Const -> ** -> Neg -> ** -> Softmax"), (Names{"acde"}));
}

// A v1 loop: the search does not follow the cycle forever.
TEST_F(PathPatternTest, LoopsEnd) {
  NodeId next = module_.main.AddNode("n", "NextIteration");
  module_.main.AddInput(next, {module_.main.Find("e").id(), 0});
  module_.main.AddInput(module_.main.Find("d").id(), {next, 0});
  EXPECT_EQ(Find("Softmax -> ** -> Softmax"), (Names{"ende"}));
  EXPECT_EQ(Find("Relu -> ** -> Missing"), Names{});
  EXPECT_EQ(FindTo("e", "Softmax -> ** -> Softmax"), "ende");
  EXPECT_EQ(FindTo("e", "Missing -> ** -> Softmax"), "");
}

// The same chains, searched for from their end.
TEST_F(PathPatternTest, FindsAChainThatEndsAtANode) {
  EXPECT_EQ(FindTo("d", "Const -> * -> AddV2"), "abd");
  EXPECT_EQ(FindTo("d", "Const -> Neg -> AddV2"), "acd");
  EXPECT_EQ(FindTo("e", "S*"), "e");
  EXPECT_EQ(FindTo("d", "S*"), "");
  EXPECT_EQ(FindTo("e", "Const -> * -> AddV2"), "");
  EXPECT_EQ(FindTo("e", "Relu -> Softmax"), "");
}

TEST_F(PathPatternTest, AChainToANodeIsAShortestOne) {
  EXPECT_EQ(FindTo("e", "Const -> ** -> Softmax"), "abde");
  EXPECT_EQ(FindTo("e", "AddV2 -> ** -> Softmax"), "de");
  EXPECT_EQ(FindTo("e", "Const -> ** -> Neg -> ** -> Softmax"), "acde");
  module_.main.AddInput(module_.main.Find("e").id(), {module_.main.Find("a").id(), 0});
  EXPECT_EQ(FindTo("e", "Const -> ** -> Softmax"), "ae");
}

TEST_F(PathPatternTest, AttributesMustBeAsAsked) {
  NodeId id = module_.main.AddNode("f", "MatMul");
  module_.main.SetAttr(id, "transpose_a", attr::Bool(true));
  module_.main.SetAttr(id, "note", attr::String("a,b"));
  EXPECT_EQ(Find("MatMul[transpose_a=true]"), (Names{"f"}));
  EXPECT_EQ(Find("MatMul[transpose_a=false]"), Names{});
  EXPECT_EQ(Find("MatMul[transpose_a=true, note=\"a,b\"]"), (Names{"f"}));
  EXPECT_EQ(Find("MatMul[missing=1]"), Names{});
}

TEST(PathPattern, SaysWhereItIsWrong) {
  EXPECT_NE(ErrorOf("").find("at character 1: an op"), std::string::npos);
  EXPECT_NE(ErrorOf("A -> -> B").find("at character 6: an op"), std::string::npos);
  EXPECT_NE(ErrorOf("A -> **").find("at character 6: a path begins"), std::string::npos);
  EXPECT_NE(ErrorOf("A[x=1").find("']' was expected"), std::string::npos);
  EXPECT_NE(ErrorOf("A[x]").find("at character 3: attribute=value"), std::string::npos);
  EXPECT_NE(ErrorOf("A B").find("one op was expected"), std::string::npos);
}

}  // namespace
}  // namespace grapnel
