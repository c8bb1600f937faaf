#include "lib/serve/pages/stories.h"

#include <gtest/gtest.h>

namespace grapnel {
namespace {

// Stages as in a folder of dumps; `nodes` of the main graph.
void Add(Timeline* timeline, const char* line, const char* from, size_t nodes) {
  TimelineStage& stage = timeline->stages.emplace_back();
  stage.dump.line = line;
  stage.dump.from_line = from;
  stage.nodes = nodes;
}

TEST(Stories, TracesShareTheirFunctionAndPartitionsBelongToTheirGraph) {
  Timeline timeline;
  Add(&timeline, "__inference_step_12", "", 5);
  Add(&timeline, "__inference_step_12_partition__cpu", "__inference_step_12", 9);
  Add(&timeline, "__inference_step_34, instance 2", "", 20);
  Add(&timeline, "__inference_step_12", "", 7);
  std::vector<Story> stories = StoriesOf(timeline);
  ASSERT_EQ(stories.size(), 2u);
  EXPECT_EQ(stories[0].function, "step");
  EXPECT_EQ(stories[0].title, "step 12");
  EXPECT_EQ(stories[0].stages, (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(stories[0].nodes, 9);
  EXPECT_EQ(stories[1].function, "step");
  EXPECT_EQ(stories[1].title, "step 34, instance 2");
  EXPECT_EQ(LargestStory(stories), 1u);
}

TEST(Stories, NamesTellRoles) {
  Timeline timeline;
  Add(&timeline, "__forward_score_200", "", 1);
  Add(&timeline, "__inference___backward_score_87_201", "", 1);
  Add(&timeline, "__inference_Dataset_map_parse_11", "", 1);
  Add(&timeline, "any.graph", "", 1);
  Add(&timeline, "MetaOptimizer run 3", "", 1);
  std::vector<Story> stories = StoriesOf(timeline);
  ASSERT_EQ(stories.size(), 5u);
  EXPECT_EQ(stories[4].function, "runs of Grappler on graphs without a name");
  EXPECT_EQ(stories[0].title, "score 200, forward");
  EXPECT_EQ(stories[1].title, "score 201, backward");
  EXPECT_EQ(stories[2].function, "Dataset_map_parse");
  EXPECT_EQ(stories[3].title, "any.graph");
}

// If a run is missing, or lines name each other, each stage is still in one story.
TEST(Stories, BrokenFolders) {
  Timeline timeline;
  Add(&timeline, "part", "nowhere", 1);
  Add(&timeline, "a", "b", 1);
  Add(&timeline, "b", "a", 1);
  std::vector<Story> stories = StoriesOf(timeline);
  size_t stages = 0;
  for (const Story& story : stories) stages += story.stages.size();
  EXPECT_EQ(stages, 3u);
  EXPECT_EQ(stories[0].line, "part");
  EXPECT_EQ(LargestStory({}), 0u);
}

}  // namespace
}  // namespace grapnel
