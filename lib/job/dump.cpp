#include "lib/job/dump.h"

#include <cstdlib>

#include "lib/place/partition.h"
#include "lib/place/settings.h"

namespace grapnel {
namespace {

// Writes the graphs that the pass `partition` will make, one file per device.
auto PartitionWriter(const DumpOptions& options, Module& module,
                     const proto::RewriterConfig& config) {
  return [folder = options.folder, binary = options.binary, &module, config](
             const Stage& stage, llvm::StringRef name) -> Expected<std::vector<std::string>> {
    if (stage.pass != "partition") return std::vector<std::string>();
    ASSIGN_OR_RETURN(auto kernels, KernelsOf(config));
    ASSIGN_OR_RETURN(PartitionedGraph split, PartitionByDevice(module, *kernels));
    return WritePartitions(split, folder, name, binary);
  };
}

}  // namespace

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
    return MakeError("TF_DUMP_GRAPH_FMT is '{0}'; TXT or BIN was expected", format);
  }
  options.binary = format && llvm::StringRef(format) == "BIN";
  options.onednn = optimize.onednn;
  options.stages_alone = request.stages_alone;
  options.sink = request.sink;
  options.write_beside = PartitionWriter(options, module, optimize.config);
  manager->Add(MakeDumpInstrumentation(std::move(options)));
  return Error::success();
}

}  // namespace grapnel
