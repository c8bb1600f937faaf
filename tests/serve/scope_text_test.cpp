#include "lib/serve/pages/scope_text.h"

#include <gtest/gtest.h>

#include "lib/ir/text.h"
#include "lib/job/opened_graph.h"
#include "lib/render/scope_tree.h"

namespace grapnel {
namespace {

class ScopeTextTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = OpenedGraph::Open("tests/serve/inputs/scopes.gtxt", "");
    ASSERT_TRUE(static_cast<bool>(opened)) << TextOf(opened.takeError());
    opened_ = std::make_unique<OpenedGraph>(std::move(*opened));
    page_ = std::make_unique<GraphPage>(opened_->module(), llvm::ArrayRef<Signature>(), "scopes");
  }

  // The scope around a node at a depth from the outside in: 0 is the outermost.
  std::string Text(const char* function, const char* node, size_t depth) {
    auto found = page_->Find(function, node);
    EXPECT_TRUE(found.has_value()) << node;
    std::vector<ScopeId> around = page_->ScopesAround(found->first, found->second);
    EXPECT_LT(depth, around.size()) << node;
    auto text = ScopeText(*page_, found->first, around[depth]);
    if (!text) return TextOf(text.takeError());
    auto file = FileBytes::FromString(*text, "copied");
    for (const TextGraph& graph : ReadGraphText(*file)) {
      for (const Problem& problem : graph.module->problems) ADD_FAILURE() << problem.ToString();
    }
    return *text;
  }
  std::unique_ptr<OpenedGraph> opened_;
  std::unique_ptr<GraphPage> page_;
};

// A tensor from outside is a Placeholder; constants and variables are included, the control edge
// from outside is not; of the library, called functions and their callees.
TEST_F(ScopeTextTest, HasAllThatItReads) {
  EXPECT_EQ(Text("", "s/sum", 1), R"(fetch %s/deep/call
%halves_1 = Placeholder {dtype=float, shape=[2,?]} : float[2,s1]
%s/sum = AddV2(%halves_1, 1.5) : float[2,s1]
%s/again = AddV2(%s/sum, %halves_1) : float[2,s1]
%s/deep/call = PartitionedCall(%s/again) {f=@outer} : float[2,s1]
%v = VariableV2 {dtype=float, shape=[]} : float_ref[]
%s/set = Assign(%v, 2.0, ^s/sum) : float_ref[]

func @outer(%a: float) -> (b: float) {
  %t/neg = Neg(%a)
  %t/call = PartitionedCall(%t/neg) {f=@inner}
  return %t/call
}

func @inner(%a: float) -> (b: float) {
  %abs = Abs(%a)
  return %abs
}
)");
}

// A function's arguments are Placeholders, and its results are fetches.
TEST_F(ScopeTextTest, OfAFunction) {
  EXPECT_EQ(Text("inner", "abs", 0), R"(fetch %abs
%a = Placeholder {dtype=float, shape=[2,?]} : float[2,s1]
%abs = Abs(%a) : float[2,s1]
)");
}

TEST_F(ScopeTextTest, SaysWhatIsNotThere) {
  auto text = ScopeText(*page_, 0, 99);
  ASSERT_FALSE(static_cast<bool>(text));
  EXPECT_EQ(TextOf(text.takeError()), "body 0 has no scope 99");
}

}  // namespace
}  // namespace grapnel
