// Names made by lowering, and pairs found from the data flow.
#include "lib/check/node_place.h"

#include <gtest/gtest.h>

#include <map>

#include "lib/check/pair_backwards.h"
#include "lib/ir/text.h"

namespace grapnel {
namespace {

std::string Of(llvm::StringRef name) {
  NodePlace place = PlaceOfName(name);
  return place.branches.empty() ? place.path : place.path + " " + place.branches;
}

TEST(NodePlace, NamesOfLowering) {
  EXPECT_EQ(Of("while/body/_1/add"), "while/add");
  EXPECT_EQ(Of("while/cond/_0/Less"), "while/?/Less");
  EXPECT_EQ(Of("a/b/body/_12/c/then/_7/d/e"), "a/b/c/d/e then;");
  EXPECT_EQ(Of("x/branch2/_43/y/else/_5/z"), "x/y/z branch2;else;");
}

TEST(NodePlace, NamesThatOnlyLookLikeIt) {
  for (const char* name : {"add", "while/body/add", "body/_1/add", "while/body/_x/add",
                           "while/branch/_1/add", "while/body/_1", "while/merge/_12",
                           "Func/while/body/_1/input/_54", "while/body/_1/c/switch/_9", "a//_1/b"})
    EXPECT_EQ(Of(name), name);
}

TEST(NodePlace, Branches) {
  EXPECT_TRUE(MayBeSameBranches("then;", "then;"));
  EXPECT_FALSE(MayBeSameBranches("then;", "else;"));
  EXPECT_TRUE(MayBeSameBranches("", "else;"));  // inlined
  EXPECT_TRUE(MayBeSameBranches("branch0|branch2;", "branch2;"));
  EXPECT_FALSE(MayBeSameBranches("then;branch0|branch2;", "then;branch1;"));
}

std::unique_ptr<Module> Parse(const std::string& text) {
  auto graphs = ReadGraphText(*FileBytes::FromString(text, "test"));
  for (const Problem& problem : graphs[0].module->problems) ADD_FAILURE() << problem.ToString();
  return std::move(graphs[0].module);
}

TEST(PairBackwards, PassesOverIdentityAndAnotherOp) {
  auto a =
      Parse("%x = Const [1.0]\n%m = Neg(%x)\n%i = Identity(%m)\n%r = Relu(%i)\n%y = Exp(%r)\n");
  auto b = Parse("%u = Const [1.0]\n%v = Neg(%u)\n%w = Relu6(%v)\n%y = Exp(%w)\n");
  std::map<std::string, std::string> pairs;
  for (const auto& [x, y] : PairBackwards(a->main, b->main)) pairs[x.name().str()] = y.name().str();
  EXPECT_EQ(pairs,
            (std::map<std::string, std::string>{{"y", "y"}, {"r", "w"}, {"m", "v"}, {"x", "u"}}));
}

// An inserted op reads something other than its supposed counterpart.
TEST(PairBackwards, StopsWhereAnOpWasInserted) {
  auto a = Parse("%x = Const [1.0]\n%m = Neg(%x)\n%y = Exp(%m)\n");
  auto b = Parse("%u = Const [1.0]\n%v = Neg(%u)\n%w = Sqrt(%v)\n%y = Exp(%w)\n");
  EXPECT_EQ(PairBackwards(a->main, b->main).size(), 1u);
}

}  // namespace
}  // namespace grapnel
