#include "lib/diff/stage_name_forms.h"

#include "lib/diff/dump_names.h"
#include "lib/library/function_name.h"

namespace grapnel {
namespace {

// The name of a line split into its parts: "CALLER: " + "__inference_" + "f_12" + "_partition_...".
struct LineParts {
  llvm::StringRef prefix, function, tail;
};

LineParts LinePartsOf(llvm::StringRef line) {
  LineParts parts;
  size_t caller = line.find(": ");
  if (caller != llvm::StringRef::npos) line = line.drop_front(caller + 2);
  size_t tail = std::min(line.find("_partition_"), line.find(", instance "));
  parts.function = line.take_front(tail);
  parts.tail = line.drop_front(parts.function.size());
  llvm::StringRef whole = parts.function;
  for (llvm::StringRef prefix : {"__inference_", "__forward_", "__backward_"})
    if (parts.function.size() > prefix.size()) parts.function.consume_front(prefix);
  parts.prefix = whole.drop_back(parts.function.size());
  return parts;
}

}  // namespace

std::string PlainName(llvm::StringRef name) {
  std::string plain;
  for (char letter : name.trim()) {
    if (letter != ',') plain += letter == '_' ? ' ' : letter;
  }
  return plain;
}

std::string WithoutPrefix(llvm::StringRef line) {
  LineParts parts = LinePartsOf(line);
  return (parts.function + parts.tail).str();
}

std::vector<std::string> LineForms(llvm::StringRef line) {
  LineParts parts = LinePartsOf(line);
  std::vector<std::string> forms = {PlainName(line)};
  auto add = [&](const llvm::Twine& function) {
    std::string form = PlainName((function + parts.tail).str());
    if (form != forms.back()) forms.push_back(std::move(form));
  };
  add(parts.prefix + parts.function);
  add(parts.function);
  auto [head, number] = parts.function.rsplit('_');
  if (IsDigits(number) && !head.empty()) add(head);
  bool in_dataset = parts.function.starts_with("Dataset_");
  std::string base = ParseFunctionName((parts.prefix + parts.function).str(), in_dataset).base;
  if (!base.empty()) add(base);
  return forms;
}

llvm::StringRef WithoutIteration(llvm::StringRef stage) { return stage.split(',').first; }

std::optional<int> StageLevel(llvm::StringRef name, llvm::StringRef stage) {
  if (name == PlainName(stage)) return 0;
  std::string head = PlainName(WithoutIteration(stage));
  if (name == head) return 1;
  llvm::StringRef rest = head;
  auto [when, group] = rest.split(" opt group ");
  auto [phase, pass] = group.split(" phase ");
  pass = pass.ltrim("0123456789").ltrim();
  return !pass.empty() && name == (when + " " + pass).str() ? std::optional(2) : std::nullopt;
}

}  // namespace grapnel
