#include "tests/fuzz/mutant_commands.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {
namespace {

// IN, SEED, OUT and NODE at the start of an argument stand for Words; arguments are separated by
// bars. Commands that run a graph get a time limit, so that no run is endless.
constexpr const char* kOnGraphs[] = {
    "info|IN|--all",
    "info|IN|--json",
    "info|IN|--unsupported",
    "view|IN|-o|OUT/x.html",
    "view|IN|-o|OUT/x.dot|--depth|4|--show-constants|--show-control",
    "view|IN|-o|OUT/x.svg|--function|all|--max-boxes|40",
    "view|IN|-o|OUT/x.dot|--group-by|device|--color-by|device",
    "view|IN|-o|OUT/x.svg|--around|NODE|--direction|right",
    "opt|IN|-o|OUT/x.pb|--ledger|OUT/x.jsonl|--dump-dir|OUT/dumps",
    "opt|IN|-o|OUT/x.gtxt|--device|/device:CPU:0|--explain|--why-not|--timing",
    "opt|IN|--check-values|--timeout|2|--device|/device:CPU:0",
    "opt|IN|--print|--fetch|NODE|--json",
    "passes|--why-not|IN",
    "run|IN|--timeout|2",
    "run|IN|--timeout|2|--fetch|NODE|--all|--tap|*|--json",
    "run|IN|--timeout|2|--devices|cpu:2|--log-device-placement",
    "run|IN|--timeout|2|--profile|OUT/profile.json|--repeat|2|--save-case|OUT/case",
    "place|IN|--devices|cpu:2,gpu:1|--table|--report|--nodes|-o|OUT/x.pbtxt",
    "place|IN|--devices|cpu:4|--partitions|OUT/parts|--explain|NODE",
    "place|IN|--devices|cpu:1,gpu:2|--html|OUT/x.html|--what-if|cpu:1",
    "place|IN|--devices|cpu:2|--kernels|grapnel|--hard|--json",
    "query|IN|SELECT op, count(*) FROM nodes GROUP BY op",
    "query|IN|path '* -> ** -> *'|--limit|50|--json",
    "query|IN|SELECT * FROM attributes|--csv",
    "query|IN|SELECT * FROM outputs, costs, bodies LIMIT 50|--batch|3",
    "convert|IN|--to|model-explorer|-o|OUT/x.json",
    "convert|IN|-o|OUT/x.gtxt",
    "convert|IN|-o|OUT/x.pbtxt.gz",
    "convert|IN|-o|OUT/x.pb",
    "convert|IN|--to|canonical|-o|OUT/x.txt",
    "convert|IN|--to|event|-o|OUT/events",
    "convert|IN|--to|node-data|-o|OUT/x.json",
    "convert|IN|SEED|--to|sync-navigation|-o|OUT/x.json",
    "cut|IN|--outputs|NODE|-o|OUT/x.pb",
    "cut|IN|--inputs|NODE|--outputs|NODE|-o|OUT/x.gtxt",
    "diff|SEED|IN",
    "diff|IN|SEED|--all|--names|--statistics",
    "diff|SEED|IN|--json",
    "diff|IN|SEED|-o|OUT/x.html",
    "diff|SEED|IN|-o|OUT/x.dot",
    "check|IN|--init|--timeout|2",
    "check|IN|--policy|tests/tools/inputs/policy.toml|--against|SEED|--timeout|2",
    "check|SEED|--policy|tests/tools/inputs/policy.toml|--against|IN|--timeout|2|--markdown|-",
    "git-setup|--show|IN",
    "reduce|IN|--check|true|--max-checks|6|-o|OUT/x.pbtxt",
    "bisect|IN|--check|true",
};
constexpr const char* kOnCases[] = {
    "run|IN|--timeout|2",
    "replay|IN|--timeout|2",
    "replay|IN|--timeout|2|--optimize|--tap|*",
    "replay|IN|--timeout|2|--devices|cpu:2|--json",
    "opt|IN|--check-values|--timeout|2",
    "doctor|IN|--timeout|2",
    "info|IN",
    "view|IN|-o|OUT/x.svg",
};
constexpr const char* kOnSavedModels[] = {
    "info|IN|--all|--json",
    "run|IN|--timeout|2",
    "run|IN|--timeout|2|--signature|get_counter",
    "run|IN|--timeout|2|--signature|incr_counter|--save-variables|OUT/variables",
    "run|IN|--timeout|2|--signature|get_counter|--variables|SEED/variables/variables",
    "run|SEED|--timeout|2|--signature|get_counter|--variables|IN/variables/variables",
    "opt|IN|-o|OUT/x.pb",
    "opt|IN|-o|OUT/optimized",
    "opt|IN|--freeze|--signature|get_counter|-o|OUT/x.gtxt",
    "doctor|IN|--timeout|2|--signature|incr_counter",
    "view|IN|-o|OUT/x.html",
    "view|IN|-o|OUT/x.dot",
    "place|IN|--devices|cpu:2",
    "diff|SEED|IN",
};
constexpr const char* kOnDebugFolders[] = {
    "info|IN",
    "info|IN|--all|--json",
    "blame|IN",
    "blame|IN|--json",
    "blame|IN|--trace|3",
    "doctor|IN",
    "blame|IN|--html|OUT/x.html",
    "view|IN|-o|OUT/x.html",
};
constexpr const char* kOnDumps[] = {
    "info|IN",
    "timeline|IN|--changes",
    "timeline|IN|--json",
    "timeline|IN|--node|NODE",
    "timeline|IN|--node|*a*",
    "diff|IN:before model_pruner|IN:after model_pruner",
    "timeline|IN|--html|OUT/x.html",
    "diff|IN|--json",
    "view|IN|-o|OUT/x.html",
    "opt|mean.gtxt|--dump-dir|IN",
    "timeline|IN|--log|IN/ledger.jsonl",
};
constexpr const char* kOnCheckpoints[] = {
    "run|IN/graph.gtxt|--timeout|2", "opt|IN/graph.gtxt|--check-values|--timeout|2", "doctor|IN"};
constexpr const char* kOnClusters[] = {"place|mean.gtxt|--devices|IN|--table|--report",
                                       "place|mean.gtxt|--devices|IN|--partitions|OUT/parts|--json",
                                       "place|mean.gtxt|--devices|cpu:1|--what-if|IN"};
constexpr const char* kOnLedgers[] = {"query|mean.gtxt|SELECT * FROM rewrites|--ledger|IN",
                                      "diff|mean.gtxt|mean.gtxt|--ledger|IN|--all"};
constexpr const char* kOnRewriterConfigs[] = {"opt|mean.gtxt|--rewriter-config|IN|--explain"};

llvm::ArrayRef<const char*> CommandsOf(SeedKind kind) {
  switch (kind) {
    case SeedKind::kGraph:
      return kOnGraphs;
    case SeedKind::kCase:
      return kOnCases;
    case SeedKind::kSavedModel:
      return kOnSavedModels;
    case SeedKind::kDebug:
      return kOnDebugFolders;
    case SeedKind::kDumps:
      return kOnDumps;
    case SeedKind::kCheckpoint:
      return kOnCheckpoints;
    case SeedKind::kCluster:
      return kOnClusters;
    case SeedKind::kLedger:
      return kOnLedgers;
    case SeedKind::kRewriterConfig:
      return kOnRewriterConfigs;
  }
  return {};
}

}  // namespace

std::vector<std::string> CommandOn(SeedKind kind, uint64_t number, const Words& words) {
  llvm::ArrayRef<const char*> commands = CommandsOf(kind);
  std::string all = commands[number % commands.size()];
  std::vector<std::string> arguments = {"grapnel"};
  llvm::SmallVector<llvm::StringRef, 12> parts;
  llvm::StringRef(all).split(parts, '|');
  for (llvm::StringRef part : parts) {
    std::string& argument = arguments.emplace_back();
    for (const auto& [word, text] : {std::pair{"IN", words.in}, std::pair{"SEED", words.seed},
                                     std::pair{"OUT", words.out}, std::pair{"NODE", words.node}}) {
      if (!part.consume_front(word)) continue;
      argument = text;
      break;
    }
    argument += part.str();
  }
  arguments.insert(arguments.end(), {"--threads", "2"});
  return arguments;
}

}  // namespace grapnel
