// Names of nodes, layers and tensors: what each kind of name means, and which names are ambiguous.
#include "lib/job/name_resolver.h"

#include <gtest/gtest.h>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

class NameResolverTest : public testing::Test {
 protected:
  NameResolverTest() {
    llvm::SmallString<128> path;
    int file = -1;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("names", "gtxt", file, path));
    llvm::raw_fd_ostream(file, /*shouldClose=*/true) << R"(
fetch %y
%x = Placeholder {dtype=float, shape=[2]}
%dense = Neg(%x)
%dense/m = Exp(%dense)
%a/dense/m = Sin(%x)
%a/dense_1/m = Cos(%x)
%call = f(%x)
%call_1 = f(%x)
%y = AddN(%call, %call_1)

func @f(%p: float) -> (r: float) {
  %in/f = Relu(%p)
  %g = g(%in/f)
  return %g
}

func @g(%p: float) -> (r: float) {
  %deep = Tanh(%p)
  return %deep
}

func @unused(%p: float) -> (r: float) {
  %alone = Sqrt(%p)
  return %alone
}
)";
    path_ = path.str().str();
    opened_ = std::make_unique<OpenedGraph>(llvm::cantFail(OpenedGraph::Open(path_)));
  }
  ~NameResolverTest() override { llvm::sys::fs::remove(path_); }

  // Returns the nodes that the name means, or the error.
  std::string Nodes(llvm::StringRef name) {
    auto found = NameResolver(*opened_).Nodes(name);
    if (!found) return TextOf(found.takeError());
    std::vector<std::string> names;
    for (const Node& node : found->nodes()) names.push_back(NameWithFunction(node));
    return llvm::join(names, " ");
  }

  // Returns which of some names belong to the nodes that the name means.
  std::string Selected(llvm::StringRef name) {
    NodeSelection selection = llvm::cantFail(NameResolver(*opened_).Nodes(name, /*may_come=*/true));
    std::string names;
    for (const char* one : {"call/in/f", "call_1/in/f", "call_1/g/deep", "f/in/f", "new/node"})
      if (selection.Has(llvm::StringRef(one))) names += std::string(one) + " ";
    return names;
  }

  std::string Fetched(llvm::StringRef name) {
    auto found = NameResolver(*opened_).Fetch(name);
    if (!found) return TextOf(found.takeError());
    return found->inner ? found->inner->Name() : found->tensor;
  }

  std::string path_;
  std::unique_ptr<OpenedGraph> opened_;
};

TEST_F(NameResolverTest, ANodeIsMeantAlone) {
  EXPECT_EQ(Nodes("x"), "x");
  EXPECT_EQ(Nodes("x:0"), "x");
  EXPECT_EQ(Nodes("^x"), "x");
  EXPECT_EQ(Nodes("dense"), "dense");
  EXPECT_EQ(Nodes("f/in/f"), "f/in/f");
  EXPECT_EQ(Nodes("unused/alone"), "unused/alone");
  EXPECT_EQ(Nodes("alone"), "unused/alone");
  EXPECT_EQ(Nodes("deep"), "g/deep");
  EXPECT_EQ(Nodes("call/g/deep"), "g/deep");
}

TEST_F(NameResolverTest, AnEndMustBeOfOneNode) {
  EXPECT_EQ(Nodes("dense_1/m"), "a/dense_1/m");
  EXPECT_EQ(Nodes("m"), "'m' fits 3 nodes: name one of 'a/dense/m', 'a/dense_1/m', 'dense/m'");
  EXPECT_EQ(Nodes("ense_1/m").find("node 'ense_1/m' not found"), 0u);
}

TEST_F(NameResolverTest, AScopeIsItsNodes) {
  EXPECT_EQ(Nodes("a"), "a/dense/m a/dense_1/m");
  EXPECT_EQ(Nodes("dense_1"), "a/dense_1/m");
  EXPECT_EQ(Nodes("dense/"), "dense/m");
}

TEST_F(NameResolverTest, APatternIsWhatMatchesFromAnyPartOn) {
  EXPECT_EQ(Nodes("dense*/m"), "dense/m a/dense/m a/dense_1/m");
  EXPECT_EQ(Nodes("d??p"), "g/deep");
  EXPECT_NE(Nodes("[a").find("is not a pattern"), std::string::npos);
}

TEST_F(NameResolverTest, ASelectionHasTheNamesAfterInlining) {
  EXPECT_EQ(Selected("in/f"), "call/in/f call_1/in/f f/in/f ");
  EXPECT_EQ(Selected("call/in/f"), "call/in/f ");
  EXPECT_EQ(Selected("deep"), "call_1/g/deep ");
  EXPECT_EQ(Selected("call_1"), "call_1/in/f call_1/g/deep ");
  EXPECT_EQ(Selected("new/node"), "new/node ");
}

TEST_F(NameResolverTest, ATensorIsMeantInOneCall) {
  EXPECT_EQ(Fetched("y"), "y");
  EXPECT_EQ(Fetched("dense_1/m"), "a/dense_1/m");
  EXPECT_EQ(Fetched("call_1/g/deep@2"), "call_1/g/deep@2");
  EXPECT_EQ(Fetched("call/f/p").find(path_ + ": node 'call/f/p' not found"), 0u);
  std::string twice = Fetched("deep");
  EXPECT_NE(twice.find("is in function 'g', which is called 2 times: name one of 'call/g/deep', "
                       "'call_1/g/deep'"),
            std::string::npos)
      << twice;
  EXPECT_NE(Fetched("deep:3").find("node 'deep' has 1 output; 'deep:3' is not one of them"),
            std::string::npos);
}

}  // namespace
}  // namespace grapnel
