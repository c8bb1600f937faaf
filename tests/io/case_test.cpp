// case.json: the order of keys, keys that come twice, and the text that SaveCase writes.
#include "lib/io/case.h"

#include <limits>

#include "lib/io/open.h"
#include "lib/io/value.h"
#include "tests/io/testing.h"
#include "tests/unit/zip_files.h"

namespace grapnel {
namespace {

// Returns the case as text: "x:0=feed.npy ..." of feeds, fetches (with @atol) and variables.
std::string Shown(const Case& values) {
  std::string text;
  auto add = [&](const auto& tensor, llvm::StringRef file) {
    file.consume_front(values.folder + "/");
    text += (text.empty() ? "" : " ") + tensor + "=" + file.str();
  };
  for (const Case::Feed& feed : values.feeds) add(feed.tensor, feed.file);
  for (const Case::Fetch& fetch : values.fetches) {
    add(fetch.tensor, fetch.file);
    text += "@" + llvm::formatv("{0}", fetch.atol).str();
  }
  for (const Case::Feed& variable : values.variables) add(variable.tensor, variable.file);
  return text;
}

class CaseTest : public testing::Test {
 protected:
  CaseTest() { folder_.Write("graph.pb", SmallGraph().SerializeAsString()); }

  Case Load(llvm::StringRef json) {
    folder_.Write("case.json", json);
    return Get(LoadCase(folder_.path()));
  }
  std::string Saved(const Case& values) {
    EXPECT_FALSE(Failed(SaveCase(folder_.path(), values)));
    return Get(FileBytes::Open(folder_ / "case.json"))->bytes().str();
  }

  TempFolder folder_;
};

TEST_F(CaseTest, KeysStayInTheOrderOfTheFile) {
  EXPECT_EQ(Shown(Load(R"({
   "variables": {"w": "1", "v": "2"},
   "other": {"feeds": {"no": "no"}, "list": ["feeds", {"fetches": {"no": "no"}}]},
   "fetches": {"b:0": "3", "a:0": "4", "\u0041:0" : "5"},
   "feeds": {"z:0": "6", "y\"}:0": "7", "x/{:0": "8"}, "atol": {"a:0": 2}})")),
            "z:0=6 y\"}:0=7 x/{:0=8 b:0=3@0.00 a:0=4@2.00 A:0=5@0.00 w=1 v=2");
}

TEST_F(CaseTest, OfKeysThatComeTwiceTheLastCounts) {
  EXPECT_EQ(Shown(Load(R"({"feeds": {"gone": "1"}, "fetches": {},
                           "feeds": {"b": "2", "a": "3", "b": "4", "\u0062": "5"}})")),
            "b=5 a=3");
}

TEST_F(CaseTest, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(Shown(Load("\xef\xbb\xbf{\"feeds\": {\"x\": \"1\"}, \"fetches\": {}}")), "x=1");
}

TEST_F(CaseTest, StepsAndSignatures) {
  Case values = Load(R"({"feeds": {"y": "0", "x": "1"}, "fetches": {"out": "2"},
      "steps": [{"feeds": {"x": "3", "y": "4"}, "fetches": {"out": "5"}}],
      "signature": "serve", "tensors": {"x": "x:0", "out": "y:0"}, "init": "init.pb"})");
  EXPECT_EQ(Shown(values), "y=0 x:0=1 y:0=2@0.00");
  ASSERT_EQ(values.steps.size(), 1u);
  EXPECT_EQ(values.steps[0].feeds, (std::vector<std::string>{folder_ / "4", folder_ / "3"}));
  EXPECT_EQ(values.init_graph, folder_ / "init.pb");
  CaseSignature signature = Get(SignatureOfCase(folder_.path()));
  EXPECT_EQ(signature.name, "serve");
  EXPECT_EQ(signature.feeds, (std::vector<std::string>{"y", "x"}));
  EXPECT_EQ(signature.fetches, std::vector<std::string>{"out"});
}

TEST_F(CaseTest, SavedText) {
  Case values;
  values.feeds = {{"z:0", "a/feed.npy"}, {"a:0", "second.npy"}};
  double inf = std::numeric_limits<double>::infinity();
  double numbers[] = {0, -0.0, 1, 0.5, 1e-4, 1e-5, 1.5e-7, 123456789, 1e14, 1e15, 1e300, inf};
  for (double number : numbers)
    values.fetches.push_back({"f" + std::to_string(values.fetches.size()), "o", number});
  values.rtol = 1e-3;
  values.variables = {{"quoted \" \\ \b\f\n\r\t \x01\x1f\x7f / \xc3\xa9 \xff", "v"}};
  EXPECT_EQ(Saved(values), R"({
 "feeds": {
  "z:0": "feed.npy",
  "a:0": "second.npy"
 },
 "fetches": {
  "f0": "o",
  "f1": "o",
  "f2": "o",
  "f3": "o",
  "f4": "o",
  "f5": "o",
  "f6": "o",
  "f7": "o",
  "f8": "o",
  "f9": "o",
  "f10": "o",
  "f11": "o"
 },
 "rtol": 0.001,
 "atol": {
  "f0": 0,
  "f1": -0,
  "f2": 1,
  "f3": 0.5,
  "f4": 1e-04,
  "f5": 1e-05,
  "f6": 1.5e-07,
  "f7": 123456789,
  "f8": 1e+14,
  "f9": 1e+15,
  "f10": 1e+300,
  "f11": null
 },
 "variables": {
  "quoted \" \\ \u0008\u000c\n\r\t \u0001\u001f)"
                           "\x7f / \xc3\xa9 \xef\xbf\xbd"
                           R"(": "v"
 }
}
)");
  EXPECT_EQ(Saved(Case()),
            "{\n \"feeds\": {},\n \"fetches\": {},\n \"rtol\": 0,\n \"atol\": {}\n}\n");
}

TEST_F(CaseTest, ACaseInAnArchiveIsLikeAFolder) {
  const std::string json = R"({"feeds": {"x:0": "in/x.npy"}, "fetches": {"y:0": "y.npy"}})";
  Literal two = Literal::Scalar(proto::DT_FLOAT, 2);
  std::string npy = Get(NpyFileBytes("x", two));
  std::string graph = SmallGraph().SerializeAsString();
  TempFolder cases;
  for (bool is_deflated : {false, true}) {
    std::string path = cases.Write(is_deflated ? "deflated" : "stored.zip",
                                   MakeZip({{"case.json", json, is_deflated},
                                            {"graph.pb", graph, is_deflated},
                                            {"in/x.npy", npy, is_deflated}}));
    EXPECT_TRUE(IsCaseFolder(path));
    EXPECT_TRUE(IsCaseFolder(path + "/"));
    Model model = Get(OpenModel(path));
    EXPECT_EQ(model.kind, FileKind::kCaseFolder);
    EXPECT_EQ(model.path, path);
    EXPECT_EQ(model.graphs[0].module->main.num_nodes(), 4u);
    EXPECT_EQ(model.case_info->graph, path + "/graph.pb");
    ASSERT_EQ(model.case_info->feeds.size(), 1u);
    EXPECT_EQ(model.case_info->feeds[0].file, path + "/in/x.npy");
    EXPECT_EQ(Get(LoadNpyLiteral(model.case_info->feeds[0].file)).bytes(), two.bytes());
  }
  EXPECT_EQ(ErrorOf(OpenModel(cases.path())),
            cases.path() + ": is not a model, but contains 2 models: name one, like '" +
                cases / "deflated" + "'");
  EXPECT_FALSE(IsCaseFolder(cases.Write("other.zip", MakeZip({{"graph.pb", graph}}))));
}

}  // namespace
}  // namespace grapnel
