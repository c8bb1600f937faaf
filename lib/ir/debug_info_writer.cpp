#include "lib/ir/debug_info_writer.h"

#include "lib/ir/wire.h"

namespace grapnel {
namespace {

// Field numbers of GraphDebugInfo.
constexpr uint32_t kFiles = 1, kFramesById = 4, kNameToTraceId = 5, kTracesById = 6;

void AppendFixed64(std::string* out, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(number >> shift));
}

void AppendFixed64Field(std::string* out, uint32_t field, uint64_t number) {
  AppendTag(out, field, WireType::kFixed64);
  AppendFixed64(out, number);
}

uint64_t KeyOf(llvm::StringRef entry) {
  uint64_t key = 0;
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kFixed64)) key = reader.number();
  }
  return key;
}

}  // namespace

DebugInfoWriter::DebugInfoWriter(std::string begun) : head_(std::move(begun)) {
  // New ids follow the largest existing id below this. Larger ids do not count, because counting up
  // from them could overflow to 0; no known writer uses such ids.
  constexpr uint64_t kMost = uint64_t{1} << 63;
  WireReader reader(head_);
  while (reader.Next()) {
    if (reader.type() != WireType::kBytes) continue;
    if (reader.field() == kFiles) files_.try_emplace(reader.bytes(), num_files_++);
    if (reader.field() != kFramesById && reader.field() != kTracesById) continue;
    uint64_t& next = reader.field() == kFramesById ? next_frame_ : next_trace_;
    if (uint64_t id = KeyOf(reader.bytes()); id < kMost) next = std::max(next, id + 1);
  }
}

uint64_t DebugInfoWriter::Frame(const SourceFrame& frame) {
  auto [file, is_new_file] = files_.try_emplace(frame.file, num_files_);
  if (is_new_file) {
    AppendBytesField(&head_, kFiles, frame.file);
    ++num_files_;
  }
  frame_.clear();
  AppendVarintField(&frame_, 1, file->second);
  AppendVarintField(&frame_, 2, static_cast<uint64_t>(frame.line));
  if (frame.column > 0) AppendVarintField(&frame_, 3, static_cast<uint64_t>(frame.column));
  if (!frame.function.empty()) AppendBytesField(&frame_, 4, frame.function);
  if (!frame.code.empty()) AppendBytesField(&frame_, 5, frame.code);
  auto [known, is_new] = frames_.try_emplace(frame_, next_frame_);
  if (!is_new) return known->second;
  entry_.clear();
  AppendFixed64Field(&entry_, 1, next_frame_);
  AppendBytesField(&entry_, 2, frame_);
  AppendBytesField(&head_, kFramesById, entry_);
  return next_frame_++;
}

uint64_t DebugInfoWriter::Trace(llvm::ArrayRef<uint64_t> frames) {
  std::string packed;
  for (uint64_t frame : frames) AppendFixed64(&packed, frame);
  auto [known, is_new] = traces_.try_emplace(packed, next_trace_);
  if (!is_new) return known->second;
  trace_.clear();
  AppendBytesField(&trace_, 2, packed);
  entry_.clear();
  AppendFixed64Field(&entry_, 1, next_trace_);
  AppendBytesField(&entry_, 2, trace_);
  AppendBytesField(&head_, kTracesById, entry_);
  return next_trace_++;
}

void DebugInfoWriter::Add(llvm::StringRef node, llvm::StringRef function, uint64_t trace) {
  size_t key = node.size() + (function.empty() ? 0 : 1 + function.size());
  entry_.clear();
  AppendTag(&entry_, 1, WireType::kBytes);
  AppendVarint(&entry_, key);
  entry_.append(node.data(), node.size());
  if (!function.empty()) entry_.append(1, '@').append(function.data(), function.size());
  AppendFixed64Field(&entry_, 2, trace);
  AppendBytesField(&names_, kNameToTraceId, entry_);
}

std::string DebugInfoWriter::Take() { return std::move(head_) + names_; }

void SetDebugInfo(Module* module, llvm::StringRef info) {
  std::string others;
  WireReader reader(module->other_fields);
  while (reader.Next()) {
    if (!reader.Is(kDebugInfoOfGraph, WireType::kBytes)) others += reader.whole_field();
  }
  if (!info.empty()) AppendBytesField(&others, kDebugInfoOfGraph, info);
  module->other_fields = std::move(others);
}

}  // namespace grapnel
