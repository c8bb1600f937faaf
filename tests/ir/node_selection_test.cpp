#include "lib/ir/node_selection.h"

#include <gtest/gtest.h>

#include "lib/ir/text.h"

namespace grapnel {
namespace {

// Returns the names that the text selects, of the nodes of the graph and of others that passes make.
std::string Selected(llvm::StringRef text) {
  std::vector<TextGraph> graphs = ReadGraphText(*FileBytes::FromString(
      "%x = Placeholder {dtype=float}\n%dense = Neg(%x)\n%dense/m = Exp(%x)\n"
      "%a/dense/m = Sin(%x)\n%a/dense_1/m = Cos(%x)\n",
      "test.gtxt"));
  auto selection = NodeSelection::Parse(*graphs[0].module, text);
  if (!selection) return TextOf(selection.takeError());
  std::string names;
  for (const char* name : {"x", "dense", "dense/m", "a/dense/m", "a/dense_1/m", "call/f/out/q"})
    if (selection->Has(name)) names += std::string(name) + " ";
  return names;
}

TEST(NodeSelectionTest, ANodeAndWhatIsInItsScope) {
  EXPECT_EQ(Selected("x"), "x ");
  EXPECT_EQ(Selected("x:0"), "x ");
  EXPECT_EQ(Selected("^x"), "x ");
  EXPECT_EQ(Selected("dense"), "dense dense/m ");
  EXPECT_EQ(Selected("a/dense/m"), "a/dense/m ");
}

TEST(NodeSelectionTest, ALayerInAnyScope) {
  EXPECT_EQ(Selected("dense_1"), "a/dense_1/m ");
  EXPECT_EQ(Selected("a"), "a/dense/m a/dense_1/m ");
  EXPECT_EQ(Selected("m"), "dense/m a/dense/m a/dense_1/m ");
  EXPECT_EQ(Selected("f/out"), "call/f/out/q ");
  EXPECT_EQ(Selected("ense"), "");
  EXPECT_EQ(Selected(""), "");
}

TEST(NodeSelectionTest, APattern) {
  EXPECT_EQ(Selected("dense*/m"), "dense/m a/dense/m a/dense_1/m ");
  EXPECT_EQ(Selected("a/*"), "a/dense/m a/dense_1/m ");
  EXPECT_NE(Selected("[a").find("is not a pattern"), std::string::npos);
}

}  // namespace
}  // namespace grapnel
