#include "lib/io/editable_message.h"

namespace grapnel {
namespace {

// Returns the contents of a bytes field, without tag and length.
llvm::StringRef FieldContent(llvm::StringRef field) {
  WireReader reader(field);
  reader.Next();
  return reader.bytes();
}

// Maps the serialized key of a map entry to the entry's index `place`. An entry without a key field
// has the key "" or 0, depending on the key's type, which is not known here: records both.
void AddKey(llvm::StringRef entry, size_t place, llvm::StringMap<size_t>* keys) {
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.field() != kMapKey) continue;
    (*keys)[reader.whole_field()] = place;
    return;
  }
  (*keys)[llvm::StringRef("\x0a\0", 2)] = place;
  (*keys)[llvm::StringRef("\x08\0", 2)] = place;
}

}  // namespace

void EditableMessage::Replace(llvm::StringRef bytes) {
  fields_.clear();
  places_.clear();
  keys_.clear();
  unread_.assign(1, bytes);
}

// Keeps the bytes after a malformed field unchanged: the parser that reads the merged message
// reports them.
void EditableMessage::Read() {
  for (llvm::StringRef bytes : unread_) {
    WireReader reader(bytes);
    while (reader.Next()) {
      if (reader.type() == WireType::kBytes) {
        places_[reader.field()].push_back(fields_.size());
        auto keys = keys_.find(reader.field());
        if (keys != keys_.end()) AddKey(reader.bytes(), fields_.size(), &keys->second);
      }
      fields_.push_back({reader.field(), reader.whole_field(), nullptr});
      bytes = bytes.drop_front(reader.whole_field().size());
    }
    if (reader.failed()) fields_.push_back({0, bytes, nullptr});
  }
  unread_.clear();
}

size_t EditableMessage::Add(uint32_t number) {
  places_[number].push_back(fields_.size());
  fields_.push_back({number, "", std::make_unique<EditableMessage>()});
  return fields_.size() - 1;
}

EditableMessage& EditableMessage::Edit(size_t place) {
  Field& field = fields_[place];
  if (!field.message) {
    field.message = std::make_unique<EditableMessage>();
    field.message->Append(FieldContent(field.raw));
  }
  return *field.message;
}

// If a singular field occurs several times, its occurrences are concatenated, as protobuf merges
// them. Occurrences that were already accessed stay separate.
EditableMessage& EditableMessage::Only(uint32_t field) {
  Read();
  if (places_[field].empty()) return Edit(Add(field));
  std::vector<size_t> parts = std::move(places_[field]), kept(1, parts[0]);
  EditableMessage& first = Edit(parts[0]);
  for (size_t place : llvm::ArrayRef<size_t>(parts).drop_front()) {
    Field& part = fields_[place];
    if (part.message) {
      kept.push_back(place);
    } else {
      first.Append(FieldContent(part.raw));
      part = {};
    }
  }
  places_[field] = std::move(kept);
  return first;
}

EditableMessage* EditableMessage::At(uint32_t field, uint64_t index) {
  Read();
  const std::vector<size_t>& places = places_[field];
  if (index > places.size()) return nullptr;
  return &Edit(index == places.size() ? Add(field) : places[index]);
}

EditableMessage& EditableMessage::ValueOf(uint32_t field, llvm::StringRef key) {
  Read();
  auto [keys, is_new] = keys_.try_emplace(field);
  if (is_new) {
    for (size_t place : places_[field]) {
      if (!fields_[place].message) AddKey(FieldContent(fields_[place].raw), place, &keys->second);
    }
  }
  auto [known, is_new_key] = keys->second.try_emplace(key, 0);
  if (is_new_key) {
    known->second = Add(field);
    // Points to the copy of the key in `keys`, which lives as long as this message; the caller's
    // `key` may not.
    Edit(known->second).Append(known->first());
  }
  return Edit(known->second).Only(kMapValue);
}

uint64_t EditableMessage::Measure() {
  size_ = 0;
  for (const Field& field : fields_) {
    size_ += field.message ? 0 : field.raw.size();
    if (!field.message) continue;
    uint64_t size = field.message->Measure();
    size_ += VarintSize(uint64_t{field.number} << 3) + VarintSize(size) + size;
  }
  for (llvm::StringRef bytes : unread_) size_ += bytes.size();
  return size_;
}

void EditableMessage::Write(std::string* out) const {
  for (const Field& field : fields_) {
    if (field.message) {
      AppendTag(out, field.number, WireType::kBytes);
      AppendVarint(out, field.message->size_);
      field.message->Write(out);
    } else {
      out->append(field.raw.data(), field.raw.size());
    }
  }
  for (llvm::StringRef bytes : unread_) out->append(bytes.data(), bytes.size());
}

}  // namespace grapnel
