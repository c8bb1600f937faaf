#include "kernels/cpu/data/example_reader.h"

#include <cstring>

#include "lib/ir/wire.h"

namespace grapnel {
namespace {

// A map entry has its key in field 1 and its value in field 2.
bool ReadEntry(llvm::StringRef entry, llvm::StringRef* key, llvm::StringRef* value) {
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) *key = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) *value = reader.bytes();
  }
  return !reader.failed();
}

bool ReadMap(llvm::StringRef map,
             llvm::function_ref<bool(llvm::StringRef key, llvm::StringRef value)> found) {
  WireReader reader(map);
  while (reader.Next()) {
    if (!reader.Is(1, WireType::kBytes)) continue;
    llvm::StringRef key, value;
    if (!ReadEntry(reader.bytes(), &key, &value) || !found(key, value)) return false;
  }
  return !reader.failed();
}

bool ReadFeature(llvm::StringRef bytes, Feature* feature) {
  static constexpr DataType kTypes[] = {proto::DT_STRING, proto::DT_FLOAT, proto::DT_INT64};
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.type() != WireType::kBytes || reader.field() > 3) continue;
    feature->dtype = kTypes[reader.field() - 1];
    feature->list = reader.bytes();
  }
  return !reader.failed();
}

int64_t CountVarints(llvm::StringRef packed) {
  int64_t count = 0;
  int length = 0;
  for (char c : packed) {
    if (++length > 10) return -1;
    if (static_cast<unsigned char>(c) >= 0x80) continue;
    ++count;
    length = 0;
  }
  return length == 0 ? count : -1;
}

}  // namespace

bool ReadExample(llvm::StringRef example,
                 llvm::function_ref<void(llvm::StringRef key, const Feature&)> found) {
  WireReader reader(example);
  while (reader.Next()) {
    if (!reader.Is(1, WireType::kBytes)) continue;
    bool good = ReadMap(reader.bytes(), [&](llvm::StringRef key, llvm::StringRef value) {
      Feature feature;
      if (!ReadFeature(value, &feature)) return false;
      found(key, feature);
      return true;
    });
    if (!good) return false;
  }
  return !reader.failed();
}

bool ReadFeatureLists(llvm::StringRef sequence_example,
                      llvm::function_ref<void(llvm::StringRef key, llvm::StringRef list)> found) {
  WireReader reader(sequence_example);
  while (reader.Next()) {
    if (!reader.Is(2, WireType::kBytes)) continue;
    bool good = ReadMap(reader.bytes(), [&](llvm::StringRef key, llvm::StringRef value) {
      found(key, value);
      return true;
    });
    if (!good) return false;
  }
  return !reader.failed();
}

bool ReadFeatureList(llvm::StringRef list, std::vector<Feature>* features) {
  WireReader reader(list);
  while (reader.Next()) {
    if (!reader.Is(1, WireType::kBytes)) continue;
    Feature feature;
    if (!ReadFeature(reader.bytes(), &feature)) return false;
    features->push_back(feature);
  }
  return !reader.failed();
}

int64_t CountValues(const Feature& feature) {
  int64_t count = 0;
  WireReader reader(feature.list);
  while (reader.Next()) {
    if (reader.field() != 1) continue;
    bool packed = reader.type() == WireType::kBytes;
    int64_t more = 0;
    if (feature.dtype == proto::DT_STRING) {
      more = packed ? 1 : -1;
    } else if (feature.dtype == proto::DT_FLOAT) {
      if (!packed) more = reader.type() == WireType::kFixed32 ? 1 : -1;
      if (packed) more = reader.bytes().size() % 4 == 0 ? reader.bytes().size() / 4 : -1;
    } else {
      if (!packed) more = reader.type() == WireType::kVarint ? 1 : -1;
      if (packed) more = CountVarints(reader.bytes());
    }
    if (more < 0) return -1;
    count += more;
  }
  return reader.failed() ? -1 : count;
}

void FillValues(const Feature& feature, Tensor& to, int64_t at) {
  WireReader reader(feature.list);
  while (reader.Next()) {
    if (reader.field() != 1) continue;
    bool packed = reader.type() == WireType::kBytes;
    if (feature.dtype == proto::DT_STRING) {
      to.data<std::string>()[at++] = reader.bytes().str();
    } else if (feature.dtype == proto::DT_FLOAT) {
      if (packed && !reader.bytes().empty())
        std::memcpy(to.data<float>() + at, reader.bytes().data(), reader.bytes().size());
      if (!packed) to.data<float>()[at] = reader.number_as_float();
      at += packed ? static_cast<int64_t>(reader.bytes().size() / 4) : 1;
    } else if (packed) {
      WireReader numbers(reader.bytes());
      uint64_t number = 0;
      while (!numbers.AtEnd() && numbers.Varint(&number))
        to.data<int64_t>()[at++] = static_cast<int64_t>(number);
    } else {
      to.data<int64_t>()[at++] = static_cast<int64_t>(reader.number());
    }
  }
}

}  // namespace grapnel
