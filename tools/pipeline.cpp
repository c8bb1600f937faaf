#include "tools/pipeline.h"

#include <cstdlib>

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "lib/place/partition.h"
#include "lib/place/settings.h"
#include "tools/values.h"

namespace grapnel {
namespace {

// The first error of a text proto, with its place.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = llvm::formatv("{0}:{1}: {2}", line + 1, column + 1, message).str();
  }
  std::string text;
};

// Before the pass `partition`: what it is going to split, a file a device.
auto PartitionWriter(const DumpOptions& options, Module& module,
                     const proto::RewriterConfig& config) {
  return [folder = options.folder, name = options.graph_name, binary = options.binary, &module,
          config](const Stage& stage) -> Expected<std::vector<std::string>> {
    if (stage.pass != "partition") return std::vector<std::string>();
    ASSIGN_OR_RETURN(auto kernels, KernelsOf(config));
    ASSIGN_OR_RETURN(PartitionedGraph split, PartitionByDevice(module, *kernels));
    return WritePartitions(split, folder, name, binary);
  };
}

}  // namespace

void PipelineFlags::AddTo(CommandLine& line) {
  line.Option("--feed", feeds,
              "tensors that are fed, besides placeholders; with a value for --check-values")
      .Separator(',')
      .ShownAs("NAME[=FILE.npy],...");
  line.Option("--fetch", fetches,
              "tensors whose values must stay; default: of the case or signature, else the graph's "
              "ends")
      .Separator(',')
      .ShownAs("NAME,...");
  line.Option("--signature", signature,
              "take feeds and fetches from this signature of a SavedModel");
  line.Option("--passes", passes,
              "run just these, in this order, each once (`grapnel passes` lists them)")
      .Separator(',')
      .ShownAs("NAME,...");
  line.Option("--rewriter-config", rewriter_config,
              "TensorFlow's RewriterConfig as text proto: a file, or the text itself");
  line.Option("--limit", limit, "stop after this many rewrites").NotNegative();
}

Expected<OptimizeOptions> PipelineFlags::Options(const OpenedGraph& input) const {
  OptimizeOptions options;
  std::vector<std::string> names;
  for (const std::string& feed : feeds)
    names.push_back(llvm::StringRef(feed).split('=').first.str());
  ASSIGN_OR_RETURN(Ends ends, EndsOf(input, names, fetches, signature));
  options.feeds = std::move(ends.feeds);
  options.fetches = std::move(ends.fetches);
  options.passes = passes;
  options.limit = limit;
  options.config.set_min_graph_nodes(-1);
  if (!rewriter_config.empty()) {
    // No file has such a name, as a rule, and every field is followed by ':' or '{'.
    bool is_text = !FileExists(rewriter_config) &&
                   llvm::StringRef(rewriter_config).find_first_of(":{") != llvm::StringRef::npos;
    std::shared_ptr<const FileBytes> file =
        FileBytes::FromString(rewriter_config, "--rewriter-config");
    if (!is_text) {
      ASSIGN_OR_RETURN(file, FileBytes::Open(rewriter_config));
    }
    FirstError first;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&first);
    options.config.Clear();
    if (!parser.ParseFromString(file->bytes().str(), &options.config)) {
      return MakeError("{0}:{1} (a RewriterConfig as text was expected)", file->name(), first.text);
    }
  }
  return options;
}

void PipelineFlags::AddValuesTo(CommandLine& line) {
  line.Option("--rtol", rtol, "relative difference that a value may have")
      .NotNegative()
      .ShowDefault();
  line.Option("--atol", atol, "the same as a part of the largest value of its tensor")
      .NotNegative()
      .ShowDefault();
}

Expected<ValueCheckOptions> PipelineFlags::ValueOptions(const OpenedGraph& input,
                                                        const OptimizeOptions& optimize,
                                                        ThreadPool& pool) const {
  ValueCheckOptions options;
  options.rtol = rtol;
  options.atol = atol;
  options.pool = &pool;
  options.fetches = optimize.fetches;
  const Graph& graph = input.module().main;
  if (options.fetches.empty()) options.fetches = PassManager::DefaultFetches(graph);
  auto load = [&](llvm::StringRef tensor, llvm::StringRef file) -> Error {
    ASSIGN_OR_RETURN(Tensor value, LoadFeed(graph, tensor, file));
    options.feeds.push_back({tensor.str(), std::move(value)});
    return Error::success();
  };
  for (const std::string& feed : feeds) {
    auto [tensor, file] = llvm::StringRef(feed).split('=');
    if (!file.empty()) RETURN_IF_ERROR(load(tensor, file));
  }
  if (options.feeds.empty() && input.model().case_info) {
    for (const Case::Feed& feed : input.model().case_info->feeds)
      RETURN_IF_ERROR(load(feed.tensor, feed.file));
  }
  ASSIGN_OR_RETURN(options.feeds, CompleteFeeds(graph, std::move(options.feeds)));
  return options;
}

Error AddDump(const DumpRequest& request, Module& module, const OptimizeOptions& optimize,
              PassManager* manager) {
  const char* prefix = std::getenv("TF_DUMP_GRAPH_PREFIX");
  const char* filter = std::getenv("TF_DUMP_GRAPH_NAME_FILTER");
  const char* format = std::getenv("TF_DUMP_GRAPH_FMT");
  DumpOptions options;
  options.folder = !request.folder.empty() ? request.folder : prefix ? prefix : "";
  if (options.folder.empty()) return Error::success();
  options.graph_name = request.graph_name;
  bool wanted = !filter || llvm::StringRef(filter) == "*" ||
                llvm::StringRef(request.graph_name).contains(filter);
  if (request.folder.empty() && !wanted) return Error::success();
  if (format && llvm::StringRef(format) != "TXT" && llvm::StringRef(format) != "BIN") {
    return MakeError("TF_DUMP_GRAPH_FMT is '{0}', TXT or BIN was expected", format);
  }
  options.binary = format && llvm::StringRef(format) == "BIN";
  options.stages_alone = request.stages_alone;
  options.sink = request.sink;
  options.write_beside = PartitionWriter(options, module, optimize.config);
  manager->Add(MakeDumpInstrumentation(std::move(options)));
  return Error::success();
}

}  // namespace grapnel
