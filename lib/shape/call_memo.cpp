#include "lib/shape/call_memo.h"

#include <algorithm>

#include "lib/ir/attr.h"
#include "lib/ir/wire.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns, as text, the facts about arguments that determine the results of a call.
std::string CallKey(llvm::StringRef function, llvm::ArrayRef<const PortFacts*> args) {
  std::string key = function.str();
  for (const PortFacts* arg : args) {
    key += '|';
    key += arg->shape.ToString();
    if (const Shape* content = arg->content()) {
      key += '@';
      key += content->ToString();
    }
    auto add = [&](char sign, const Elements& elements) {
      key += sign;
      for (int64_t element : elements) {
        key += std::to_string(element);
        key += ',';
      }
    };
    if (arg->elements()) add('=', *arg->elements());
    if (!arg->extra) continue;
    if (arg->extra->holds_nothing) key += '0';
    if (arg->extra->knows_writes) key += '!';
    if (arg->extra->written) key += arg->extra->written->ToString();
    if (arg->extra->content_elements) add('%', *arg->extra->content_elements);
  }
  return key;
}

}  // namespace

// Reads FunctionDef.arg_attr (field 7), which maps the index of an argument to its attributes;
// `_output_shapes` is one of these.
std::vector<Shape> ArgShapesInFile(const Function& function) {
  std::vector<Shape> shapes(function.args.size());
  WireReader reader(function.source);
  while (reader.Next()) {
    if (!reader.Is(7, WireType::kBytes)) continue;
    uint64_t index = 0;
    llvm::StringRef attrs;
    WireReader entry(reader.bytes());
    while (entry.Next()) {
      if (entry.Is(1, WireType::kVarint)) index = entry.number();
      if (entry.Is(2, WireType::kBytes)) attrs = entry.bytes();
    }
    WireReader attr(attrs);
    while (attr.Next()) {
      if (!attr.Is(1, WireType::kBytes)) continue;
      llvm::StringRef key, value;
      WireReader pair(attr.bytes());
      while (pair.Next()) {
        if (pair.Is(1, WireType::kBytes)) key = pair.bytes();
        if (pair.Is(2, WireType::kBytes)) value = pair.bytes();
      }
      auto list = key == "_output_shapes" ? AttrView(value).AsShapes() : std::nullopt;
      if (list && list->size() == 1 && index < shapes.size()) shapes[index] = (*list)[0];
    }
  }
  return shapes;
}

std::vector<PortFacts> ArgNotesInFile(const Function& function) {
  std::vector<PortFacts> notes;
  for (Shape& shape : ArgShapesInFile(function)) notes.emplace_back().shape = std::move(shape);
  proto::OpDef signature;
  if (!signature.ParseFromString(function.signature)) return notes;
  for (int i = 0; i < signature.input_arg_size() && i < static_cast<int>(notes.size()); ++i) {
    const auto& data = signature.input_arg(i).handle_data();
    if (data.size() == 1) notes[i].SetContent(Shape::FromProto(data[0].shape()));
  }
  return notes;
}

bool HasListArgs(const Function& function) {
  return std::any_of(
      function.info.inputs.begin(), function.info.inputs.end(),
      [](const OpArg& arg) { return !arg.number_attr.empty() || !arg.type_list_attr.empty(); });
}

bool CallMemo::IsCurrent(const Entry& entry, const Module& module) {
  return llvm::all_of(entry.versions, [&](const auto& version) {
    const Function* function = module.FindFunction(module.strings.Get(version.first));
    return function && function->body.version() == version.second;
  });
}

std::vector<PortFacts> CallMemo::Results(
    const Function& function, llvm::ArrayRef<const PortFacts*> args,
    llvm::function_ref<std::vector<PortFacts>(std::vector<PortFacts>)> infer) {
  constexpr int kMaxVariants = 24;  // argument sets per function; further ones share a result
  constexpr size_t kMaxDepth = 64;
  if (function.args.size() != args.size() || HasListArgs(function)) return {};
  if (active_.count(&function) || active_.size() > kMaxDepth) {
    if (inferring_) inferring_->is_kept = false;
    return {};
  }

  llvm::StringRef name = function.name();
  std::string key = CallKey(name, args);
  auto found = results_.find(key);
  if (found != results_.end() && !IsCurrent(found->second, function.body.module())) {
    results_.erase(found);
    found = results_.end();
  }
  bool exact = found != results_.end() || variants_[name] < kMaxVariants;
  if (!exact) found = results_.find(key = name.str());
  if (found == results_.end()) {
    ++variants_[name];
    std::vector<PortFacts> facts;
    for (const PortFacts* arg : args) facts.push_back(exact ? arg->Copy() : PortFacts());
    Entry entry;
    entry.versions[function.name_id] = function.body.version();
    // The key has no handles of shapes, so results for arguments with handles are kept only until
    // Forget.
    auto has_handle = [](const PortFacts* arg) { return arg->handle != 0; };
    entry.is_kept = exact && llvm::none_of(args, has_handle);
    active_.insert(&function);
    Entry* outer = std::exchange(inferring_, &entry);
    entry.results = infer(std::move(facts));
    inferring_ = outer;
    active_.erase(&function);
    if (!entry.is_kept) passing_.push_back(key);
    found = results_.insert_or_assign(std::move(key), std::move(entry)).first;
  }
  const Entry& entry = found->second;
  if (inferring_) {
    inferring_->versions.insert(entry.versions.begin(), entry.versions.end());
    inferring_->is_kept &= entry.is_kept;
  }
  std::vector<PortFacts> results;
  for (const PortFacts& result : entry.results) results.push_back(result.Copy());
  return results;
}

void CallMemo::Add(const Function& function, llvm::ArrayRef<const PortFacts*> args,
                   std::vector<PortFacts> results) {
  Entry entry;
  entry.results = std::move(results);
  entry.versions[function.name_id] = function.body.version();
  results_.insert_or_assign(CallKey(function.name(), args), std::move(entry));
}

void CallMemo::Forget() {
  for (const std::string& key : passing_) results_.erase(key);
  passing_.clear();
  if (!variants_.empty()) variants_.clear();
}

}  // namespace grapnel
