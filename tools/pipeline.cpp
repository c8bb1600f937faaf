#include "tools/pipeline.h"

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

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

}  // namespace

void PipelineFlags::AddTo(CLI::App& app) {
  app.add_option("--feed", feeds, "tensors that are fed, besides placeholders")
      ->delimiter(',')
      ->type_name("NAME,...");
  app.add_option(
         "--fetch", fetches,
         "tensors whose values must stay; default: of the case or signature, else the graph's ends")
      ->delimiter(',')
      ->type_name("NAME,...");
  app.add_option("--signature", signature,
                 "take feeds and fetches from this signature of a SavedModel");
  app.add_option("--passes", passes,
                 "run just these, in this order, each once (`grapnel passes` lists them)")
      ->delimiter(',')
      ->type_name("NAME,...");
  app.add_option("--rewriter-config", rewriter_config,
                 "TensorFlow's RewriterConfig, as text proto");
  app.add_option("--limit", limit, "stop after this many rewrites")->check(CLI::NonNegativeNumber);
}

Expected<OptimizeOptions> PipelineFlags::Options(const InputGraph& input) const {
  OptimizeOptions options;
  ASSIGN_OR_RETURN(Ends ends, EndsOf(input, feeds, fetches, signature));
  options.feeds = std::move(ends.feeds);
  options.fetches = std::move(ends.fetches);
  options.passes = passes;
  options.limit = limit;
  options.config.set_min_graph_nodes(-1);
  if (!rewriter_config.empty()) {
    ASSIGN_OR_RETURN(auto file, FileBytes::Open(rewriter_config));
    FirstError first;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&first);
    options.config.Clear();
    if (!parser.ParseFromString(file->bytes().str(), &options.config)) {
      return MakeError("{0}:{1} (a RewriterConfig as text was expected)", rewriter_config,
                       first.text);
    }
  }
  return options;
}

}  // namespace grapnel
