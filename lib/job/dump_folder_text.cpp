#include "lib/job/dump_folder_text.h"

#include <set>

#include "lib/diff/stage_names.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostFilesListed = 20;

std::string FileList(llvm::ArrayRef<std::string> files, bool all) {
  std::string text;
  for (const std::string& file : files.take_front(all ? files.size() : kMostFilesListed))
    text += "  " + Printable(file) + "\n";
  if (!all && files.size() > kMostFilesListed)
    text += "  ... and " + WithCommas(files.size() - kMostFilesListed) + " more (--all)\n";
  return text;
}

std::string NodeCountText(const OrderedDump& dump) {
  return dump.module ? WithCommas(dump.module->main.num_nodes()) : "not readable";
}

std::string FunctionTable(const StageNames& names, llvm::ArrayRef<OrderedDump> dumps, bool all) {
  std::vector<size_t> functions = names.LargestFirst();
  std::vector<std::vector<std::string>> rows = {
      {"function", "stages", "nodes at first", "at last", "stages of its partitions", "instances"}};
  size_t shown = all ? functions.size() : std::min(functions.size(), kMostFilesListed);
  for (size_t number : llvm::ArrayRef<size_t>(functions).take_front(shown)) {
    const StageNames::Function& function = names.functions()[number];
    size_t in_parts = 0, instances = 1;
    for (const StageNames::Function& other : names.functions()) {
      if (other.from_line == function.line) in_parts += other.stages.size();
      instances += IsInstanceOf(other.line, function.line);
    }
    rows.push_back({Printable(function.name), WithCommas(function.stages.size()),
                    NodeCountText(dumps[function.stages.front()]),
                    NodeCountText(dumps[function.stages.back()]), WithCommas(in_parts),
                    WithCommas(instances)});
  }
  std::string text = Table(rows, "  ");
  if (shown < functions.size())
    text += "  ... and " + WithCommas(functions.size() - shown) + " more (--all)\n";
  return text;
}

}  // namespace

Expected<std::string> DumpFolderText(const Model& folder, bool all) {
  ThreadPool pool;
  ASSIGN_OR_RETURN(std::vector<OrderedDump> dumps, ReadDumps(folder.path, "", pool));
  StageNames names(dumps, folder.path);
  std::set<std::string> told;
  if (names.TellsStories())
    for (const OrderedDump& dump : dumps) told.insert(dump.dump.file);
  std::vector<std::string> files;
  for (const GraphInFile& graph : folder.graphs)
    if (!told.contains(graph.title)) files.push_back(graph.title);
  if (told.empty()) return FileList(files, all);
  std::string text = FunctionTable(names, dumps, all);
  if (!files.empty()) text += "other graphs\n" + FileList(files, all);
  return text + "a graph is " + folder.path + ":FUNCTION:STAGE, as '" + folder.path + ":" +
         names.Example() + "' (" + names.WhereAllAre() + ")\n";
}

}  // namespace grapnel
