// `grapnel opt MODEL`: optimizes a graph as Grappler does, and records every rewrite.
#include "lib/check/value_check.h"
#include "lib/exec/saved_state.h"
#include "lib/io/saved_model_writer.h"
#include "lib/io/signature.h"
#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/text.h"
#include "lib/job/job_json.h"
#include "lib/job/node_answer.h"
#include "lib/job/source.h"
#include "lib/job/whole_model.h"
#include "lib/pass/near_misses.h"
#include "lib/pass/run_text.h"
#include "lib/shape/inference.h"
#include "lib/shape/onednn_need.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/node_question_flag.h"
#include "tools/pipeline.h"
#include "tools/size_flags.h"
#include "tools/time_limit.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, output, dump_dir, ledger;
  PipelineFlags pipeline;
  NodeQuestionFlag question;
  TimeLimit limit;
  SizeFlags sizes;
  bool print = false, timing = false, explain = false, until_fixed = false;
  std::function<std::vector<TypedOption>()> typed;

  // True if --limit may end the passes.
  bool StopsEarly() const { return pipeline.request.options.limit >= 0; }
  // True if the output is a SavedModel: the model is one, the output is a folder, and variables are
  // not frozen.
  bool WritesFolder(const OpenedGraph& opened) const {
    return opened.model().kind == FileKind::kSavedModel && !output.empty() &&
           !NamesGraphFile(output) && !pipeline.request.freeze;
  }
};

// Returns ", made at file.py:12 in f" for a node of the original graph; else "".
std::string MadeAt(const LineTable& lines, llvm::StringRef function, llvm::StringRef node) {
  std::optional<SourceFrame> line = lines.LineOf(lines.Find(function, node));
  return line ? ", made at " + FrameText(*line) : "";
}

// Prints a rewrite. `as_comments`: the graph is printed to the same stream, and rewrites are
// comments in its text.
void PrintRewrite(const Rewrite& rewrite, const LineTable& made_at, bool as_comments,
                  llvm::raw_ostream& os) {
  llvm::SmallVector<llvm::StringRef, 4> lines;
  std::string text = RewriteText(rewrite);
  llvm::StringRef origin = rewrite.node;
  if (std::string at = MadeAt(made_at, rewrite.function, origin); !at.empty())
    text += ("  examined " + origin + at + "\n").str();
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) os << (as_comments ? "# " : "") << line << "\n";
}

// Prints the places where a rule's pattern was found but a condition failed. Without `all`, prints
// only those where TensorFlow does the rewrite, which is a mistake there.
void PrintNearMisses(llvm::ArrayRef<Refusal> misses, const LineTable& lines, bool all,
                     bool as_comments, llvm::raw_ostream& os) {
  for (const Refusal& refusal : misses) {
    if (!all && !IsUnlikeTensorFlow(refusal)) continue;
    os << (as_comments ? "# " : "") << refusal.pass << "/" << refusal.rule << " refused '"
       << PlaceOf(refusal) << "': " << refusal.reason
       << MadeAt(lines, refusal.function, refusal.node) << "\n";
  }
}

// Prints the answers about nodes, as comments if the graph is printed to the same stream.
void PrintAnswers(llvm::ArrayRef<NodeAnswer> answers, const ShortNames& names, bool as_comments,
                  llvm::raw_ostream& os) {
  std::string text;
  llvm::raw_string_ostream blocks(text);
  WriteNodeAnswers(answers, /*all=*/false, names, blocks);
  llvm::SmallVector<llvm::StringRef, 8> lines;
  llvm::StringRef(blocks.str()).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) os << (as_comments ? "# " : "") << line << "\n";
}

Error PrintResult(const Module& module, llvm::raw_ostream& os) {
  ShapeMap shapes = InferShapes(module.main);
  TextOptions options;
  options.describe = [&](Port port) {
    DataType type = shapes.TypeOf(port);
    const Shape& shape = shapes.OfPort(port);
    return (type == proto::DT_INVALID ? "?" : DataTypeName(type).str()) +
           (shape.known_rank() ? shape.ToString() : "");
  };
  WriteGraphAsText(module, options, os);
  return Error::success();
}

// Saves the input of a failed pass, and returns a text with the command that reproduces the
// failure. Flags whose effect is already in the saved file are left out.
std::string ReproducerText(const OpenedGraph& opened, const OptimizeRequest& request,
                           const Optimized& done, std::vector<TypedOption> typed) {
  auto path = SaveFailedInput(opened, request, *done.failed);
  if (!path) return TextOf(path.takeError());
  static const char* const kKept[] = {"plugin", "rewriter-config", "keep-nan", "device",
                                      "onednn", "threads",         "memory",   "without"};
  llvm::erase_if(typed, [](const TypedOption& option) {
    return !llvm::is_contained(kKept, llvm::StringRef(option.name));
  });
  std::vector<TypedOption> more = {{"passes", {done.failed->pass}}};
  if (!done.tensors.feeds.empty()) more.push_back({"feed", {llvm::join(done.tensors.feeds, ",")}});
  if (!done.tensors.fetches.empty())
    more.push_back({"fetch", {llvm::join(done.tensors.fetches, ",")}});
  return "its input is saved; to reproduce: " + CommandText("opt", *path, typed, more);
}

// Reports a pass that failed or changed a value; if it changed a value, finds the rewrite that did.
Expected<int> ReportFailure(const OpenedGraph& opened, const OptimizeRequest& request,
                            const Optimized& done, const Flags& flags, Invocation& invocation) {
  const std::string& path = opened.model().path;
  if (!done.difference.empty()) {
    invocation.err() << "grapnel: " << path << ": " << *done.failure << "\n";
    OptimizeRequest silent = request;
    silent.options.sink = nullptr;
    ASSIGN_OR_RETURN(std::optional<Culprit> culprit, FindCulprit(opened, silent));
    if (culprit) invocation.err() << "since " << RewriteText(culprit->rewrite);
    return kExitNo;
  }
  Error error = Annotate(path, done.AsError());
  // The command `grapnel opt` cannot reproduce passes that belong to the caller.
  if (!done.failed || request.options.registry) return error;
  return MakeError("{0}\n{1}", TextOf(std::move(error)),
                   ReproducerText(opened, request, done, flags.typed()));
}

// Returns "2 fetches with the same values and the same effects with open sizes as 2, 1 and 3".
std::string ComparedText(const Optimized& done) {
  std::string text = Plural(*done.values_compared, "fetch") + " with the same values";
  if (done.effects_compared > 0) text += " and the same effects";
  return text + OpenSizesText(done.open_sizes);
}

// Warns that the written GraphDef, unlike the SavedModel, has no values of variables.
void WarnOfVariables(const OpenedGraph& opened, const MessageSink& sink) {
  if (opened.model().variables_prefix.empty()) return;
  size_t variables = 0;
  for (Node node : opened.module().main.nodes()) variables += IsVariable(node);
  if (variables == 0) return;
  sink(Severity::kWarning,
       llvm::formatv("{0}: a GraphDef cannot hold the values of {1}; -o FOLDER writes a SavedModel "
                     "with them, --freeze makes them constants",
                     opened.model().path, Plural(variables, "variable"))
           .str());
}

// The most runs of the passes with --until-fixed. Most graphs take two or three.
constexpr int kMostRuns = 20;

// Returns "fixed after 3 runs", or a warning that the last run still changed something.
std::string RunsText(const OptimizeResult& result) {
  if (result.is_fixed) return "fixed after " + Plural(result.runs, "run");
  std::vector<std::string> changing;
  for (const Stage& stage : llvm::ArrayRef(result.stages).drop_front(result.last_run)) {
    if (stage.changed && !llvm::is_contained(changing, stage.pass)) changing.push_back(stage.pass);
  }
  return llvm::formatv("not fixed: run {0}, the last one, still changed something: {1}",
                       result.runs, llvm::join(changing, ", "))
      .str();
}

Error WriteResult(const OpenedGraph& opened, const Optimized& done, const Flags& flags,
                  Invocation& invocation) {
  if (flags.output.empty()) return Error::success();
  if (flags.WritesFolder(opened))
    return WriteSavedModel(opened.model(), flags.output, OptimizedNote(done));
  WarnOfVariables(opened, invocation.sink());
  const Module& module = opened.module();
  return WriteGraph(module, flags.output, TopologicalOrder(module.main));
}

// Facts that a GraphDef cannot store, for a message: the tensors of the signature's keys, and the
// node to run before the outputs.
struct Written {
  std::vector<SignatureTensor> inputs, outputs;
  std::string init;

  Written(const OpenedGraph& opened, const OptimizeRequest& request, const Optimized& done) {
    const Graph& main = opened.module().main;
    if (request.freeze) init = TableInitOf(main);
    auto chosen = ChooseSignature(opened.model(), opened.file(), request.signature);
    if (!chosen) llvm::consumeError(chosen.takeError());  // not an error: the job succeeded
    if (!chosen || !*chosen) return;
    for (const SignatureTensor& input : (*chosen)->inputs) {
      if (FindTensorIfThere(main, input.tensor)) inputs.push_back(input);
    }
    for (const SignatureTensor& output : (*chosen)->outputs) {
      if (llvm::is_contained(done.tensors.fetches, output.tensor)) outputs.push_back(output);
    }
  }

  // Returns "" if all tensors have the names of their keys.
  static std::string LineOf(llvm::StringRef what, llvm::ArrayRef<SignatureTensor> tensors) {
    if (llvm::all_of(tensors, [](const SignatureTensor& one) {
          return one.tensor == one.key || one.tensor == one.key + ":0";
        }))
      return "";
    std::vector<std::string> parts;
    for (const SignatureTensor& one : tensors)
      parts.push_back(Printable(one.key) + " = " + Printable(one.tensor));
    return (what + ": " + llvm::join(parts, ", ") + "\n").str();
  }

  void Print(llvm::raw_ostream& os) const {
    os << LineOf("inputs", inputs) << LineOf("outputs", outputs);
    if (!init.empty())
      os << "tables: run " << init
         << " once before the outputs; this node fills the tables (`grapnel run` "
         << "runs it itself)\n";
  }

  void WriteJson(llvm::json::OStream& json) const {
    auto write = [&](llvm::StringRef name, llvm::ArrayRef<SignatureTensor> tensors) {
      if (tensors.empty()) return;
      json.attributeArray(name, [&] {
        for (const SignatureTensor& one : tensors) {
          json.object([&] {
            json.attribute("key", llvm::json::fixUTF8(one.key));
            json.attribute("tensor", llvm::json::fixUTF8(one.tensor));
          });
        }
      });
    };
    write("inputs", inputs);
    write("outputs", outputs);
    if (!init.empty()) json.attribute("run_first", init);
  }
};

void SayWritten(const Flags& flags, const Optimized& done, size_t nodes, Invocation& invocation) {
  invocation.Wrote(flags.dump_dir);
  invocation.Wrote(flags.ledger, Plural(done.result.rewrites, "rewrite"));
  invocation.Wrote(flags.output, Plural(nodes, "node"));
}

Expected<int> RunOn(OpenedGraph& opened, const Flags& flags, Invocation& invocation) {
  if (!flags.pipeline.function.empty() && flags.WritesFolder(opened))
    return MakeError(
        "{0}: a SavedModel has all functions, and --function optimizes one: write a graph file, "
        "such as -o FILE.pb",
        flags.output);
  RETURN_IF_ERROR(flags.pipeline.Use(&opened));
  ThreadPool pool(invocation.flags.threads);
  OptimizeRequest request = flags.pipeline.Request(invocation);
  request.options.pool = &pool;
  request.sizes = flags.sizes;
  request.options.sink = invocation.sink();
  request.dump_folder = flags.dump_dir;
  request.run_timeout_s = flags.limit.seconds;
  std::unique_ptr<Instrumentation> progress = MakePassProgress(invocation);
  request.watcher = progress.get();
  if (flags.until_fixed) request.options.most_runs = kMostRuns;
  ASSIGN_OR_RETURN(std::unique_ptr<NodeQuestion> question, flags.question.Ask(opened));
  request.question = question.get();
  std::vector<std::string> known;
  if (question) known = AllNodeNames(opened.module());
  bool wants_all_misses = request.wants_near_misses && !question;
  LineTable lines;
  if (flags.explain || request.wants_near_misses) lines = LinesOf(opened);
  if (flags.explain) {
    request.wants_near_misses = true;
    request.on_rewrite = [&](const Rewrite& rewrite) {
      PrintRewrite(rewrite, lines, flags.print, invocation.out());
    };
  }
  std::unique_ptr<AtomicFile> ledger;
  if (!flags.ledger.empty()) {
    ASSIGN_OR_RETURN(ledger, AtomicFile::Create(flags.ledger));
    request.ledger = &ledger->os();
  }
  request.whole_model = flags.WritesFolder(opened);
  if (request.whole_model) RETURN_IF_ERROR(CheckCanWrite(opened.model(), flags.output));
  Module& module = opened.module();
  auto count_nodes = [&] {
    return request.whole_model ? CountOfSignatures(opened.file()) : module.main.num_nodes();
  };
  size_t nodes_before = count_nodes();
  ASSIGN_OR_RETURN(Optimized done, Optimize(opened, request));
  if (done.failure) return ReportFailure(opened, request, done, flags, invocation);
  if (std::string kept = done.KeptText(); !kept.empty())
    request.options.sink(Severity::kWarning, "no --fetch given: " + kept);
  if (flags.until_fixed && !done.result.is_fixed && !flags.StopsEarly())
    request.options.sink(Severity::kWarning, RunsText(done.result));
  std::vector<NodeAnswer> answers;
  ShortNames names;
  if (question) {
    auto found = question->Answers(module, lines, /*all=*/false);
    if (!found) return Annotate(opened.model().path, found.takeError());
    answers = std::move(*found);
    names = NamesOf(answers, std::move(known), module);
  }
  if (ledger) RETURN_IF_ERROR(ledger->Commit());
  RETURN_IF_ERROR(WriteResult(opened, done, flags, invocation));
  const OneDnnNeed need = FindOneDnnNeed(module);
  std::optional<Written> written;
  if (!flags.output.empty() && !request.whole_model) written.emplace(opened, request, done);
  if (invocation.flags.json) {
    WriteDocument(invocation.out(), [&](llvm::json::OStream& json) {
      json.attribute("path", llvm::json::fixUTF8(flags.model));
      WriteOptimizedJson(done, nodes_before, count_nodes(), flags.timing, json);
      if (question) WriteNodeAnswersJson(answers, json);
      if (flags.until_fixed) {
        json.attribute("runs", done.result.runs);
        json.attribute("is_fixed", done.result.is_fixed);
      }
      if (need.nodes > 0) json.attribute("needs_onednn", need.Text());
      if (written) written->WriteJson(json);
    });
    SayWritten(flags, done, count_nodes(), invocation);
    return kExitOk;
  }
  if (!question || flags.explain)
    PrintNearMisses(done.near_misses, lines, wants_all_misses, flags.print, invocation.out());
  PrintAnswers(answers, names, flags.print, invocation.out());
  if (flags.print) RETURN_IF_ERROR(PrintResult(module, invocation.out()));
  bool stdout_is_free = flags.output != "-" && flags.ledger != "-" && !flags.print;
  llvm::raw_ostream& os = stdout_is_free ? invocation.out() : invocation.err();
  if (flags.timing) os << TimingTable(done.result);
  if (!invocation.flags.quiet && stdout_is_free) {
    os << flags.model << ": " << WithCommas(nodes_before) << " -> " << Plural(count_nodes(), "node")
       << (request.whole_model ? " of the signatures, " : ", ")
       << Plural(done.result.rewrites, "rewrite");
    if (flags.until_fixed && done.result.is_fixed) os << ", " << RunsText(done.result);
    if (done.values_compared) os << ", " << ComparedText(done);
    if (flags.output.empty()) os << " (-o FILE writes the result)";
    os << "\n";
    if (written) written->Print(os);
    if (std::string assumed = done.AssumedText(); !assumed.empty()) os << assumed << "\n";
    if (need.nodes > 0)
      os << need.Text() << (done.onednn ? "; --onednn off makes no such nodes" : "") << "\n";
  }
  SayWritten(flags, done, count_nodes(), invocation);
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (!flags.question.node.empty() && !flags.pipeline.request.wants_near_misses)
    return MakeError("--node requires --why-not");
  if (invocation.flags.json) {
    const char* other = flags.print           ? "--print"
                        : flags.explain       ? "--explain"
                        : flags.output == "-" ? "-o -"
                        : flags.ledger == "-" ? "--ledger -"
                                              : nullptr;
    if (other) return MakeError("--json and {0} both write to standard output", other);
  }
  return OnEachGraph(flags.model, flags.graph, {flags.output, flags.ledger, flags.dump_dir},
                     invocation,
                     [&](OpenedGraph& opened) { return RunOn(opened, flags, invocation); });
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  flags->typed = line.Typed();
  line.Option("MODEL", flags->model, "the graph to optimize").Required();
  line.Option("-o,--output", flags->output,
              "output file: .pb, .pbtxt or .gtxt, each also .gz; - for standard output; for a "
              "SavedModel also a folder, to write a SavedModel");
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  flags->pipeline.AddTo(line);
  flags->sizes.AddTo(line);
  flags->pipeline.AddDeviceTo(line);
  line.Flag("--until-fixed", flags->until_fixed,
            "run the passes again and again, until a run changes nothing; at most 20 times");
  line.Flag("--freeze", flags->pipeline.request.freeze,
            "convert a SavedModel's variables and tables to constants");
  line.Option("--dump-dir", flags->dump_dir,
              "dump the graph first, last, and before and after each pass that changed it; "
              "default: TF_DUMP_GRAPH_PREFIX");
  line.Option("--ledger", flags->ledger, "write every rewrite as a line of JSON");
  line.Flag("--check-values", flags->pipeline.request.check_values,
            "run the graph before the passes and after each one that changed it, and find the "
            "first rewrite that changes a fetch or an effect (exit 1)");
  flags->pipeline.AddValuesTo(line);
  flags->limit.AddTo(line, "with --check-values: time limit for each run; default: none");
  line.Flag("--explain", flags->explain,
            "print every rewrite, and where TensorFlow makes a wrong one");
  line.Flag("--why-not", flags->pipeline.request.wants_near_misses,
            "print where a rule's pattern was found, but a condition failed");
  flags->question.AddTo(line);
  line.Flag("--print", flags->print, "print the result, one line per node");
  line.Flag("--timing", flags->timing, "print the time of each pass");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("opt",
                "optimizes a graph as TensorFlow's Grappler does, and can dump it after each pass",
                "opt model.pb --fetch Identity --device /device:CPU:0 -o fast.pb --dump-dir dumps",
                SetUp);

}  // namespace
}  // namespace grapnel
