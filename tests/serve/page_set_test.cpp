#include "lib/serve/pages/page_set.h"

#include <gtest/gtest.h>

#include "lib/serve/pages/model_page.h"
#include "lib/serve/routes/tab.h"

namespace grapnel {
namespace {

class HeavyPage : public Page {
 public:
  HeavyPage(std::string title, size_t weight)
      : Page(Kind::kModel, std::move(title)), weight_(weight) {}
  Expected<GraphPage*> Drawing() override { return MakeError("nothing to draw"); }
  size_t Weight() const override { return weight_; }

 private:
  size_t weight_;
};

std::vector<std::unique_ptr<Page>> Heavy(size_t count, size_t weight) {
  std::vector<std::unique_ptr<Page>> pages;
  for (size_t i = 0; i < count; ++i) pages.push_back(std::make_unique<HeavyPage>("made", weight));
  return pages;
}

bool IsKept(const PageSet& pages, size_t number) {
  return pages.at(number)->kind() != Page::Kind::kForgotten;
}

TEST(PageSet, ForgetsWhatWasMadeFirst) {
  PageSet pages;
  llvm::cantFail(pages.AddPath("testdata/collatz"));
  size_t first = pages.AddMade(Heavy(3, 0));
  std::shared_ptr<Page> held = pages.at(first);
  EXPECT_EQ(first, 1u);
  for (size_t i = 3; i < PageSet::kMostMade; ++i) pages.AddMade(Heavy(1, 0));
  EXPECT_TRUE(IsKept(pages, first));
  size_t last = pages.AddMade(Heavy(1, 0));
  EXPECT_EQ(last, PageSet::kMostMade + 1) << "numbers stay";
  for (size_t i = first; i < first + 3; ++i) EXPECT_FALSE(IsKept(pages, i)) << "made together";
  EXPECT_TRUE(IsKept(pages, first + 3));
  EXPECT_TRUE(IsKept(pages, 0)) << "a file's page";
  EXPECT_EQ(held->title(), "made") << "who has it may use it to the end";
  EXPECT_EQ(TextOf(pages.at(first)->Drawing().takeError()),
            "made was dropped to make room for newer pages: request it again");
  std::string list = pages.Json(TabNames);
  EXPECT_NE(list.find(R"({"id":"1","title":"made","tabs":)"), std::string::npos);
  EXPECT_NE(list.find(R"("forgotten":true)"), std::string::npos);
}

TEST(PageSet, ForgetsByWeightButNotTheLast) {
  PageSet pages;
  pages.AddMade(Heavy(1, PageSet::kMostMadeWeight / 2));
  pages.AddMade(Heavy(1, PageSet::kMostMadeWeight / 2));
  EXPECT_TRUE(IsKept(pages, 0));
  pages.AddMade(Heavy(1, 2 * PageSet::kMostMadeWeight));
  EXPECT_FALSE(IsKept(pages, 0));
  EXPECT_FALSE(IsKept(pages, 1));
  EXPECT_TRUE(IsKept(pages, 2));
}

}  // namespace
}  // namespace grapnel
