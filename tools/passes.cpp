// `grapnel passes`: lists every pass and rule, and shows why a rule did not fire.
#include "lib/job/job_json.h"
#include "lib/job/missed_optimizations.h"
#include "lib/job/near_miss_groups.h"
#include "lib/job/node_answer.h"
#include "lib/job/plugin.h"
#include "lib/job/source.h"
#include "lib/pass/registry.h"
#include "lib/support/text.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/node_question_flag.h"
#include "tools/pipeline.h"

namespace grapnel {
namespace {

struct Flags {
  std::vector<std::string> why_not;  // [RULE] [MODEL]; one empty text if neither was typed
  std::string model, graph;
  bool all = false;
  NodeQuestionFlag question;
  PipelineFlags pipeline;
};

const PassRegistry& RegistryOf(const Invocation& invocation) {
  return invocation.passes() ? *invocation.passes() : PassRegistry::Get();
}

void WritePass(const PassRegistry& registry, const PassRegistry::Entry& entry,
               llvm::json::OStream& json) {
  json.attribute("name", entry.info.name);
  json.attribute("config_name", entry.info.config_name);
  json.attribute("order", entry.info.order);
  json.attribute("default_on", entry.info.default_on);
  json.attribute("run_once", entry.info.run_once);
  json.attribute("toggle", entry.info.toggle);
  json.attribute("help", entry.info.help);
  json.attribute("refuses", entry.info.refuses);
  if (*entry.plugin) json.attribute("plugin", entry.plugin);
  json.attributeArray("rules", [&] {
    for (const PassStep& rule : registry.ReportedBy(entry)) {
      json.object([&] {
        json.attribute("name", rule.name);
        json.attribute("help", rule.help);
        if (*rule.refuses) json.attribute("refuses", rule.refuses);
        if (*rule.plugin) json.attribute("plugin", rule.plugin);
      });
    }
  });
}

void WritePasses(const PassRegistry& registry, llvm::json::OStream& json) {
  json.attributeArray("passes", [&] {
    for (const PassRegistry::Entry* entry : registry.Passes())
      json.object([&] { WritePass(registry, *entry, json); });
  });
}

int List(Invocation& invocation) {
  const PassRegistry& registry = RegistryOf(invocation);
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) { WritePasses(registry, json); });
    return kExitOk;
  }
  for (const PassRegistry::Entry* entry : registry.Passes()) {
    const PassInfo& info = entry->info;
    os << info.name << "  ("
       << (info.order ? "place " + std::to_string(info.order) + (info.default_on ? ", on" : ", off")
                      : "by name only");
    if (*info.config_name) os << "; in a RewriterConfig: " << info.config_name;
    if (*entry->plugin) os << "; of " << entry->plugin;
    os << ")\n  " << info.help << "\n";
    if (*info.refuses) os << "  refuses: " << info.refuses << "\n";
    std::vector<std::vector<std::string>> rows;
    for (const PassStep& rule : registry.ReportedBy(*entry)) {
      bool is_guest = *rule.plugin && !*entry->plugin;
      rows.push_back(
          {rule.name, rule.help + (is_guest ? std::string(" (of ") + rule.plugin + ")" : "")});
    }
    os << Table(rows, "    ") << "\n";
  }
  return kExitOk;
}

OptimizeRequest RequestOf(const Flags& flags, ThreadPool& pool, Invocation& invocation) {
  OptimizeRequest request = flags.pipeline.Request(invocation);
  request.options.pool = &pool;
  request.options.sink = invocation.sink();
  return request;
}

void PrintAssumed(const OpenedGraph& opened, const std::string& assumed, Invocation& invocation) {
  if (!assumed.empty() && !invocation.flags.quiet)
    invocation.err() << opened.model().path << ": " << assumed << "\n";
}

// Answers the question about nodes.
Expected<int> AnswerOn(OpenedGraph& opened, const std::string& rule, const Flags& flags,
                       Invocation& invocation) {
  ThreadPool pool(invocation.flags.threads);
  const LineTable lines = LinesOf(opened);
  std::vector<std::string> known = AllNodeNames(opened.module());
  ASSIGN_OR_RETURN(std::unique_ptr<NodeQuestion> question, flags.question.Ask(opened, rule));
  OptimizeRequest request = RequestOf(flags, pool, invocation);
  request.question = question.get();
  ASSIGN_OR_RETURN(Optimized done, Optimize(opened, request));
  if (done.failure) return Annotate(opened.model().path, done.AsError());
  auto answers = question->Answers(opened.module(), lines, flags.all);
  if (!answers) return Annotate(opened.model().path, answers.takeError());
  PrintAssumed(opened, done.AssumedText(), invocation);
  if (invocation.flags.json) {
    WriteDocument(invocation.out(),
                  [&](llvm::json::OStream& json) { WriteNodeAnswersJson(*answers, json); });
  } else {
    WriteNodeAnswers(*answers, flags.all, NamesOf(*answers, std::move(known), opened.module()),
                     invocation.out());
  }
  return kExitOk;
}

Expected<int> WhyNotOn(OpenedGraph& opened, const std::string& rule, const Flags& flags,
                       Invocation& invocation) {
  RETURN_IF_ERROR(flags.pipeline.TakeNetwork(&opened));
  if (!flags.question.node.empty()) return AnswerOn(opened, rule, flags, invocation);
  ThreadPool pool(invocation.flags.threads);
  const LineTable lines = LinesOf(opened);
  std::vector<std::string> known = AllNodeNames(opened.module());
  ASSIGN_OR_RETURN(MissedOptimizations undone,
                   FindMissedOptimizations(opened, RequestOf(flags, pool, invocation), rule));
  llvm::raw_ostream& os = invocation.out();
  PrintAssumed(opened, undone.assumed, invocation);
  if (invocation.flags.json) {
    WriteDocument(os,
                  [&](llvm::json::OStream& json) { WriteNearMissesJson(undone.refusals, json); });
    return kExitOk;
  }
  NearMissGroups found =
      GroupNearMisses(undone.refusals, opened.module(), lines, undone.made, flags.all);
  WriteNearMissGroups(found, flags.all, NamesOf(found.groups, std::move(known), opened.module()),
                      os);
  if (undone.refusals.empty()) {
    os << "no near misses" << (rule.empty() ? "" : " of '" + rule + "'") << ": "
       << (undone.rewrites == 0 ? "no pattern was found in the graph"
                                : "wherever a pattern was found, it was rewritten: " +
                                      Plural(undone.rewrites, "rewrite"))
       << "\n";
  }
  return kExitOk;
}

Expected<int> WhyNot(const Flags& flags, Invocation& invocation) {
  const PassRegistry& registry = RegistryOf(invocation);
  // The model comes last: after --why-not, or as the MODEL of the command.
  std::vector<std::string> given = flags.why_not;
  std::erase(given, "");
  if (!flags.model.empty()) given.push_back(flags.model);
  if (given.empty()) return MakeError("--why-not: a model was expected");
  if (given.size() > 2)
    return MakeError("--why-not: a rule and a model were expected, not also '{0}'", given.back());
  std::string rule = given.size() > 1 ? given.front() : "";
  Error no_rule = rule.empty() ? Error::success() : registry.CheckRuleExists(rule);
  auto is_there = [](const std::string& model) {
    return FileExists(model) || !SourceAndFunction(model).first.empty();
  };
  if (no_rule && is_there(rule))
    return Annotate("--why-not: pass the rule first, then the model", std::move(no_rule));
  if (no_rule) return no_rule;
  if (const std::string& model = given.back(); rule.empty() && !is_there(model)) {
    Error no_such_rule = registry.CheckRuleExists(model);
    if (!no_such_rule)
      return MakeError("--why-not {0}: a model was expected after the rule", model);
    llvm::consumeError(std::move(no_such_rule));
  }
  return OnEachGraph(given.back(), flags.graph, {}, invocation, [&](OpenedGraph& opened) {
    return WhyNotOn(opened, rule, flags, invocation);
  });
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("--why-not", flags->why_not,
              "show where a rule's pattern was found but a condition failed, by reason: first the "
              "fusions, by FLOPs; for all rules if none is named")
      .ShownAs("[RULE] MODEL")
      .Count(0, 2);
  line.Option("MODEL", flags->model, "with --why-not: the model, if it does not follow --why-not");
  flags->question.AddTo(line);
  line.Flag("--all", flags->all,
            "with --why-not: list every node for each reason, not only the first four, and the "
            "nodes that "
            "only stand where a call, loop or branch was; with --node: every rule that was near");
  line.Option("--graph", flags->graph,
              "with --why-not: the title of one of several graphs, as `info` shows it; for dumps "
              "FUNCTION:STAGE");
  flags->pipeline.AddDeviceTo(line);
  flags->pipeline.AddTo(line);
  return [flags](Invocation& invocation) -> Expected<int> {
    if (!flags->why_not.empty()) return WhyNot(*flags, invocation);
    if (!flags->model.empty() || !flags->question.node.empty())
      return MakeError("{0} requires --why-not",
                       flags->model.empty() ? "--node" : "'" + flags->model + "'");
    return List(invocation);
  };
}

GRAPNEL_COMMAND("passes", "lists passes and rules, or shows why one did not fire",
                "passes --why-not remapper model.pb --device /device:CPU:0", SetUp);

}  // namespace
}  // namespace grapnel
