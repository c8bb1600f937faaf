#include "lib/render/xla_clusters.h"

#include <gtest/gtest.h>

#include "lib/io/open.h"
#include "lib/ir/find.h"

namespace grapnel {
namespace {

class XlaClustersTest : public testing::Test {
 protected:
  std::string Of(llvm::StringRef name) {
    return clusters_.Of(llvm::cantFail(FindNode(*model_.graphs[0].module, name)));
  }
  Model model_ = llvm::cantFail(OpenModel("tests/serve/inputs/clusters.gtxt"));
  XlaClusters clusters_{*model_.graphs[0].module};
};

TEST_F(XlaClustersTest, ANodeNamesItsOwn) {
  EXPECT_EQ(Of("m"), "cluster_0");
  EXPECT_EQ(Of("o"), "cluster_1");
  EXPECT_EQ(Of("s/p"), "step");
  EXPECT_EQ(Of("x"), "");
}

TEST_F(XlaClustersTest, ACompiledFunctionIsOneWithItsCallAndWhatItCalls) {
  EXPECT_EQ(Of("call"), "function compiled");
  EXPECT_EQ(Of("compiled/b"), "function compiled");
  EXPECT_EQ(Of("inner/d"), "function compiled");
  EXPECT_EQ(Of("y"), "");
}

}  // namespace
}  // namespace grapnel
