#include "lib/diff/stage_names.h"

#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <tuple>

#include "lib/diff/dump_lines.h"
#include "lib/diff/dump_names.h"
#include "lib/diff/stage_name_forms.h"
#include "lib/support/name_list.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Added to the level of a partition if the name given is that of its function. Lower levels are
// more exact, so a function that itself has the name comes first.
constexpr int kOfParent = 10;
// Limits for what users type: no stage has more colons or a longer name.
constexpr size_t kMostSplits = 64, kLongest = 200;

// Returns the ways to read a name: as a stage alone, and as "FUNCTION:STAGE", split at each colon.
std::vector<std::pair<llvm::StringRef, llvm::StringRef>> SplitsOf(llvm::StringRef name) {
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> splits = {{"", name}};
  for (size_t at = name.find(':'); at != llvm::StringRef::npos && splits.size() < kMostSplits;
       at = name.find(':', at + 1))
    splits.push_back({name.take_front(at), name.drop_front(at + 1)});
  return splits;
}

// Sorts names by similarity to `text`: first those that contain it, then by edit distance.
std::vector<std::string> NearestFirst(std::vector<std::string> names, llvm::StringRef text) {
  std::string wanted = PlainName(text.take_front(kLongest));
  std::vector<std::tuple<bool, size_t, size_t>> order;
  for (size_t i = 0; i < names.size(); ++i) {
    std::string plain = PlainName(llvm::StringRef(names[i]).take_front(kLongest));
    bool holds = wanted.size() > 1 && llvm::StringRef(plain).contains(wanted);
    order.emplace_back(!holds, llvm::StringRef(plain).edit_distance_insensitive(wanted), i);
  }
  llvm::sort(order);
  std::vector<std::string> sorted;
  sorted.reserve(order.size());
  for (const auto& each : order) sorted.push_back(std::move(names[std::get<2>(each)]));
  return sorted;
}

}  // namespace

// A stage that matches a name, with the levels (see LevelOf) of its line and of its stage: lower is
// more exact.
struct StageNames::Hit {
  std::pair<int, int> level;
  size_t index;
};

StageNames::StageNames(llvm::ArrayRef<OrderedDump> dumps, llvm::StringRef folder)
    : dumps_(dumps), folder_(folder.str()) {
  std::map<std::string, size_t> numbers, shorts;
  for (size_t i = 0; i < dumps.size(); ++i) {
    auto [it, is_new] = numbers.try_emplace(stage(i).line, functions_.size());
    if (is_new) functions_.push_back({stage(i).line, stage(i).from_line, "", {}, 0});
    Function& function = functions_[it->second];
    function.stages.push_back(i);
    if (dumps[i].module)
      function.nodes = std::max<size_t>(function.nodes, dumps[i].module->main.num_nodes());
    function_of_.push_back(it->second);
  }
  for (const Function& function : functions_) ++shorts[PlainName(WithoutPrefix(function.line))];
  for (Function& function : functions_) {
    std::string name = WithoutPrefix(function.line);
    function.name = shorts[PlainName(name)] == 1 ? name : function.line;
  }
}

bool IsInstanceOf(llvm::StringRef line, llvm::StringRef first) {
  return line.consume_front(first) && line.starts_with(", instance ");
}

bool StageNames::TellsStories() const {
  bool has_dump = llvm::any_of(dumps_, [](const OrderedDump& dump) {
    const DumpStage& stage = dump.dump;
    return !stage.is_loose || stage.when != 1 || MomentOf(stage.stage);
  });
  return has_dump &&
         llvm::any_of(functions_, [](const Function& each) { return each.stages.size() > 1; });
}

// Returns the index of `plain` among the forms of a line's name, from exact to short; nullopt if it
// is not one of the forms.
static std::optional<int> LevelOf(const std::string& plain, llvm::StringRef line) {
  std::vector<std::string> forms = LineForms(line);
  auto it = llvm::find(forms, plain);
  if (it == forms.end()) return std::nullopt;
  return static_cast<int>(it - forms.begin());
}

// Returns the functions that the name may mean, each with its level: the lower, the more exact.
std::vector<std::pair<size_t, int>> StageNames::LinesOf(llvm::StringRef function) const {
  std::string plain = PlainName(function);
  std::vector<std::pair<size_t, int>> found;
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Function& each = functions_[i];
    if (function.empty())
      found.emplace_back(i, IsOfOneOp(each.line));
    else if (std::optional<int> own = LevelOf(plain, each.line))
      found.emplace_back(i, *own);
    else if (std::optional<int> of_parent = LevelOf(plain, each.from_line))
      found.emplace_back(i, *of_parent + kOfParent);
  }
  return found;
}

Expected<std::vector<size_t>> StageNames::StoryOf(llvm::StringRef function) const {
  std::vector<size_t> story;
  for (auto [number, level] : LinesOf(function))
    story.insert(story.end(), functions_[number].stages.begin(), functions_[number].stages.end());
  if (story.empty()) {
    auto names = [&](NameSink take) {
      for (const Function& each : functions_) take(each.name);
    };
    return Annotate(folder_, NotFound("function", function, names));
  }
  llvm::sort(story);
  return story;
}

// Returns all stages that match the name. `before_is_meant`: only for a name "before X"; returns
// the stages "after X" that have an earlier stage, which is the one that the user means.
std::vector<StageNames::Hit> StageNames::HitsOf(llvm::StringRef name, bool before_is_meant) const {
  std::vector<Hit> hits;
  for (auto [function, stage_text] : SplitsOf(name)) {
    std::string plain = PlainName(stage_text);
    if (before_is_meant) {
      if (!HasPrefix(plain, "before ")) continue;
      plain = "after " + plain.substr(7);
    }
    for (auto [line, level] : LinesOf(function)) {
      const std::vector<size_t>& stages = functions_[line].stages;
      for (size_t k = before_is_meant; k < stages.size(); ++k) {
        std::optional<int> fits = StageLevel(plain, stage(stages[k]).stage);
        if (!fits) continue;
        hits.push_back({{level, *fits}, stages[k]});
      }
    }
  }
  return hits;
}

// Returns the stages that match the name most exactly, in the folder's order.
std::vector<size_t> StageNames::BestOf(llvm::StringRef name, bool before_is_meant) const {
  std::vector<Hit> hits = HitsOf(name, before_is_meant);
  std::vector<size_t> best;
  std::pair<int, int> least = {INT_MAX, INT_MAX};
  for (const Hit& hit : hits) least = std::min(least, hit.level);
  for (const Hit& hit : hits)
    if (hit.level == least) best.push_back(hit.index);
  llvm::sort(best);
  best.erase(std::unique(best.begin(), best.end()), best.end());
  return best;
}

std::vector<size_t> StageNames::OfFile(llvm::StringRef name) const {
  std::vector<size_t> whole, stems;
  for (size_t i = 0; i < dumps_.size(); ++i) {
    if (stage(i).file == name) whole.push_back(i);
    if (WithoutGraphSuffix(stage(i).file) == name) stems.push_back(i);
  }
  return whole.empty() ? stems : whole;
}

std::string StageNames::NameOf(size_t index) const {
  const Function& function = FunctionOf(index);
  size_t same = llvm::count_if(
      function.stages, [&](size_t each) { return stage(each).stage == stage(index).stage; });
  return same > 1 ? stage(index).file : function.name + ":" + stage(index).stage;
}

Expected<FoundStage> StageNames::Find(llvm::StringRef name) const {
  if (std::vector<size_t> files = OfFile(name); !files.empty()) return OneOf(name, files, false);
  for (bool before_is_meant : {false, true}) {
    std::vector<size_t> best = BestOf(name, before_is_meant);
    if (!best.empty()) return OneOf(name, best, before_is_meant);
  }
  return NoStage(name);
}

// Returns the stage that the user means. If several stages match, takes the first one if they are
// iterations of one pass on one function; otherwise returns an error. `before_is_meant`: returns
// the stage before the match.
Expected<FoundStage> StageNames::OneOf(llvm::StringRef name, llvm::ArrayRef<size_t> found,
                                       bool before_is_meant) const {
  auto wanted = [&](size_t each) {
    const std::vector<size_t>& stages = FunctionOf(each).stages;
    return before_is_meant ? *(llvm::find(stages, each) - 1) : each;
  };
  size_t first = found.front();
  if (found.size() == 1) return FoundStage{wanted(first), ""};
  bool is_one_pass = llvm::all_of(found, [&](size_t each) {
    return function_of_[each] == function_of_[first] &&
           WithoutIteration(stage(each).stage) == WithoutIteration(stage(first).stage);
  });
  if (is_one_pass) {
    std::string note = "'" + name.str() + "' names " + Plural(found.size(), "stage") +
                       " and the first is taken, '" + NameOf(wanted(first)) + "'; the next is '" +
                       NameOf(wanted(found[1])) + "'";
    return FoundStage{wanted(first), note};
  }
  std::vector<std::string> names;
  std::set<size_t> functions;
  for (size_t each : found) functions.insert(function_of_[each]);
  bool is_of_several = functions.size() > 1;
  for (size_t function : Largest({functions.begin(), functions.end()})) {
    for (size_t each : found) {
      if (function_of_[each] != function) continue;
      std::string stage_text = WithoutIteration(stage(each).stage).str();
      if (before_is_meant) stage_text = "before" + stage_text.substr(5);
      std::string text = functions_[function].name + ":" + stage_text;
      if (!is_of_several) text = NameOf(wanted(each));
      if (!llvm::is_contained(names, text)) names.push_back(std::move(text));
    }
  }
  return MakeError(
      "{0}: '{1}' names stages of {2}: say which, {3} ({4})", folder_, name,
      is_of_several ? Plural(functions.size(), "function") : "one function in different passes",
      NameList(names), WhereAllAre());
}

// Sorts functions by size, largest first; ops that ran eagerly come last.
std::vector<size_t> StageNames::Largest(std::vector<size_t> functions) const {
  auto key = [&](size_t each) {
    return std::pair(!IsOfOneOp(functions_[each].line), functions_[each].nodes);
  };
  llvm::stable_sort(functions, [&](size_t x, size_t y) { return key(x) > key(y); });
  return functions;
}

// Returns all functions except those derived from others, and instances after the first one.
std::vector<size_t> StageNames::LargestFirst() const {
  std::vector<size_t> whole;
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Function& function = functions_[i];
    bool is_part = llvm::any_of(functions_, [&](const Function& each) {
      return each.line == function.from_line || IsInstanceOf(function.line, each.line);
    });
    if (!is_part) whole.push_back(i);
  }
  return Largest(std::move(whole));
}

std::vector<std::string> StageNames::NamesOf(llvm::ArrayRef<size_t> functions) const {
  std::vector<std::string> names;
  for (size_t each : functions) names.push_back(functions_[each].name);
  return names;
}

// Returns a name for one stage of the function, preferably a stage after a pass.
std::string StageNames::Example(const Function& function) const {
  for (llvm::StringRef start : {"after ", "before ", ""}) {
    for (size_t each : function.stages) {
      llvm::StringRef text = stage(each).stage;
      if (text.starts_with(start) && !text.contains("opt_group") &&
          NameOf(each) != stage(each).file)
        return NameOf(each);
    }
  }
  return stage(function.stages.front()).file;
}

std::string StageNames::WhereAllAre() const {
  bool is_plain = folder_.find_first_of(" '\"\\$&|;<>()*?[]#~`!") == std::string::npos;
  std::string quote = is_plain ? "" : "'";
  return "`grapnel timeline " + quote + folder_ + quote + "` lists all";
}

std::string StageNames::Advice(llvm::StringRef by) const {
  std::vector<size_t> functions = LargestFirst();
  if (functions.empty()) return WhereAllAre();
  return "name one by " + by.str() + " FUNCTION:STAGE, as '" + Example() + "'; " +
         (functions.size() == 1 ? "the function is " : "functions are ") +
         NameList(NamesOf(functions)) + " (" + WhereAllAre() + ")";
}

// Lists the stages of functions, each once and without iterations; those most similar to `text`
// come first.
std::string StageNames::NamesOfStages(llvm::ArrayRef<std::pair<size_t, int>> functions,
                                      llvm::StringRef text) const {
  std::vector<std::string> names;
  for (auto [number, level] : functions) {
    for (size_t each : functions_[number].stages) {
      std::string head = WithoutIteration(stage(each).stage).str();
      if (!llvm::is_contained(names, head)) names.push_back(std::move(head));
    }
  }
  return NameList(text.empty() ? names : NearestFirst(std::move(names), text));
}

Error StageNames::NoStage(llvm::StringRef name) const {
  std::vector<size_t> functions = LargestFirst();
  if (functions.empty()) return MakeError("{0}: graph '{1}' not found", folder_, name);
  for (auto [function, text] : SplitsOf(name)) {
    auto lines = LinesOf(function);
    if (function.empty() || lines.empty()) continue;
    return MakeError("{0}: stage '{1}' not found in function '{2}'; its stages are {3} ({4})",
                     folder_, text, function, NamesOfStages(lines, text), WhereAllAre());
  }
  if (auto lines = LinesOf(name); !name.empty() && !lines.empty()) {
    return MakeError(
        "{0}: '{1}' is a function: name a stage of it, as '{2}'; its stages are {3} ({4})", folder_,
        name, Example(functions_[lines.front().first]), NamesOfStages(lines, ""), WhereAllAre());
  }
  bool is_stage_alone = SplitsOf(name).size() == 1;
  auto names = [&](NameSink take) {
    for (size_t i = 0; i < dumps_.size(); ++i) {
      take(NameOf(i));
      take(stage(i).file);
      if (is_stage_alone) take(WithoutIteration(stage(i).stage));
    }
  };
  std::vector<std::string> near = NearNames(name, names);
  if (!near.empty())
    return MakeError("{0}: stage '{1}' not found; did you mean {2}? ({3})", folder_, name,
                     NameList(near), WhereAllAre());
  std::vector<std::string> nearest = NamesOf(functions);
  if (auto [function, text] = name.split(':'); !text.empty())
    nearest = NearestFirst(std::move(nearest), function);
  return MakeError("{0}: stage '{1}' not found; a stage is FUNCTION:STAGE, as '{2}'; {3} {4} ({5})",
                   folder_, name, Example(),
                   nearest.size() == 1 ? "the function is" : "functions are", NameList(nearest),
                   WhereAllAre());
}

}  // namespace grapnel
