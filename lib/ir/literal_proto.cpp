// Conversion between literals and TensorProtos.
#include "lib/ir/element_storage.h"
#include "lib/ir/literal.h"
#include "lib/ir/node.h"
#include "lib/ir/shape.h"
#include "lib/ir/wire.h"
#include "lib/proto/tensor.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

// Returns the elements in the repeated field for `type` of a TensorProto, in memory layout.
std::string ReadValues(llvm::StringRef tensor_proto, DataType type) {
  uint32_t field = ValueField(type);
  Storage storage = StorageOf(type);
  size_t size = DataTypeSize(type);
  std::string out;
  auto number = [&](uint64_t n) {
    // Except for bool, the low bytes of the number in the field are the element.
    if (storage == Storage::kF32 || storage == Storage::kC64) {
      out.append(reinterpret_cast<const char*>(&n), 4);
    } else if (storage == Storage::kC128) {
      out.append(reinterpret_cast<const char*>(&n), 8);
    } else if (storage == Storage::kBool) {
      out.push_back(n != 0);
    } else {
      out.append(reinterpret_cast<const char*>(&n), size);
    }
  };
  WireReader reader(tensor_proto);
  while (reader.Next()) {
    if (reader.field() != field) continue;
    if (reader.type() != WireType::kBytes) {
      number(reader.number());
    } else if (storage == Storage::kF8 || storage == Storage::kF32 || storage == Storage::kF64 ||
               storage == Storage::kC64 || storage == Storage::kC128) {
      out.append(reader.bytes().data(), reader.bytes().size());
    } else {
      WireReader packed(reader.bytes());
      uint64_t n;
      while (!packed.AtEnd() && packed.Varint(&n)) number(n);
    }
  }
  out.resize(out.size() / size * size);
  return out;
}

// Reads the strings of a tensor_content: first come the sizes of all strings, then their bytes.
Expected<std::vector<std::string>> UnpackStrings(llvm::StringRef content, int64_t count) {
  std::vector<uint64_t> sizes;
  WireReader reader(content);
  uint64_t size = 0, all = 0;
  // Each size takes at least one byte, so a wrong `count` cannot make `sizes` longer than the
  // content.
  while (static_cast<int64_t>(sizes.size()) < count && !reader.AtEnd() && reader.Varint(&size)) {
    if (size > content.size() - all) break;
    all += size;
    sizes.push_back(size);
  }
  size_t before = 0;
  for (uint64_t one : sizes) {
    do ++before;
    while (one >>= 7);
  }
  if (static_cast<int64_t>(sizes.size()) < count || content.size() != before + all)
    return MakeError("the tensor's content is not a list of {0} strings", count);
  std::vector<std::string> strings;
  strings.reserve(sizes.size());
  content = content.drop_front(before);
  for (uint64_t one : sizes) {
    strings.push_back(content.take_front(one).str());
    content = content.drop_front(one);
  }
  return strings;
}

// Parses a TensorShapeProto that has only known sizes, as most have; nullopt for any other.
std::optional<Shape> PlainShape(llvm::StringRef bytes) {
  constexpr char kDim = 0x12, kSize = 0x08;
  Shape shape = Shape::Scalar();
  WireReader dims(bytes);
  while (dims.Next()) {
    bool is_dim = dims.whole_field()[0] == kDim;
    if (!is_dim || dims.whole_field().size() != 2 + dims.bytes().size()) return std::nullopt;
    int64_t size = 0;
    WireReader dim(dims.bytes());
    while (dim.Next()) {
      if (dim.whole_field()[0] != kSize) return std::nullopt;
      size = static_cast<int64_t>(dim.number());
    }
    if (dim.failed() || size < 0) return std::nullopt;
    shape.Append(size);
  }
  return dims.failed() ? std::nullopt : std::optional<Shape>(std::move(shape));
}

}  // namespace

Expected<Literal> Literal::FromTensorProto(llvm::StringRef tensor_proto) {
  Literal literal;
  Shape shape = Shape::Scalar();
  llvm::StringRef content;
  bool has_content = false;
  std::vector<std::string> strings;
  WireReader reader(tensor_proto);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) literal.dtype_ = static_cast<DataType>(reader.number());
    if (reader.Is(2, WireType::kBytes)) {
      if (std::optional<Shape> plain = PlainShape(reader.bytes())) {
        shape = std::move(*plain);
        continue;
      }
      proto::TensorShapeProto dims;
      if (!dims.ParseFromArray(reader.bytes().data(), reader.bytes().size())) {
        return MakeError("the tensor's shape cannot be read");
      }
      for (const auto& dim : dims.dim()) {
        if (dim.size() < 0)
          return MakeError("the tensor has a dimension of size {0}, 0 or more was expected",
                           dim.size());
      }
      shape = Shape::FromProto(dims);
    }
    if (reader.Is(4, WireType::kBytes)) {
      content = reader.bytes();
      has_content = !content.empty();
    }
    if (reader.Is(8, WireType::kBytes)) strings.push_back(reader.bytes().str());
  }
  if (reader.failed()) return MakeError("the tensor is cut off or not a TensorProto");
  if (IsRefType(literal.dtype_)) {
    return MakeError("the tensor's dtype is {0}, a value cannot be a reference",
                     DataTypeName(literal.dtype_));
  }
  if (!shape.known_rank())
    return MakeError("the tensor's rank is unknown, a constant's shape must be known");
  std::optional<int64_t> count = shape.NumElements();
  size_t size = DataTypeSize(literal.dtype_);
  if (!count || (size && *count > INT64_MAX / static_cast<int64_t>(size))) {
    return MakeError("the tensor's shape {0} is larger than memory", shape.ToString());
  }
  literal.dims_.assign(shape.dims().begin(), shape.dims().end());
  literal.num_elements_ = *count;
  // If fewer elements are written than the shape has, TensorFlow repeats the last one. A message of
  // a few bytes must not take gigabytes of memory that way. True if it would: the shape needs more
  // than 64 MiB and has more than 1000 times as many elements as are written.
  auto claims_too_much = [&](int64_t written, int64_t element) {
    constexpr int64_t kAlwaysAllowed = 64 << 20, kMaxRatio = 1000;
    return *count > kAlwaysAllowed / element && *count / kMaxRatio > written;
  };

  if (literal.dtype_ == proto::DT_STRING) {
    if (has_content && strings.empty()) {
      ASSIGN_OR_RETURN(strings, UnpackStrings(content, *count));
    }
    int64_t written = strings.size();
    if (written > *count)
      return MakeError("{0} strings are written, but the shape {1} has only {2}", written,
                       shape.ToString(), *count);
    if (written == 0) strings.emplace_back();
    if (written > 1 && written < *count) {
      if (claims_too_much(written, 32))
        return MakeError("the tensor's shape {0} claims far more than the {1} strings written",
                         shape.ToString(), written);
      strings.resize(*count, strings.back());
    }
    literal.splat_ = written <= 1;
    literal.strings_ = std::make_shared<std::vector<std::string>>(std::move(strings));
    return literal;
  }
  if (size == 0) {
    if (literal.dtype_ == proto::DT_RESOURCE || literal.dtype_ == proto::DT_VARIANT) {
      return MakeError("a {0} has no value that can be read", DataTypeName(literal.dtype_));
    }
    return MakeError("the tensor's dtype {0} is unknown", static_cast<int>(literal.dtype_));
  }
  if (has_content) {
    if (content.size() != *count * size) {
      return MakeError("the tensor's content has {0} bytes, {1}{2} needs {3}", content.size(),
                       DataTypeName(literal.dtype_), shape.ToString(), *count * size);
    }
    literal.bytes_ = content;
    // TensorFlow takes any byte other than 0 as true, but the code that reads a bool literal relies
    // on 0 and 1.
    auto is_bool = [](char byte) { return byte == 0 || byte == 1; };
    if (literal.dtype_ == proto::DT_BOOL && !llvm::all_of(content, is_bool)) {
      auto owner = std::make_shared<std::string>(content.str());
      for (char& byte : *owner) byte = byte != 0;
      literal.bytes_ = *owner;
      literal.owner_ = owner;
    }
    return literal;
  }
  std::string values = ReadValues(tensor_proto, literal.dtype_);
  int64_t written = values.size() / size;
  if (written > *count) {
    return MakeError("{0} values are written, but the shape {1} has only {2}", written,
                     shape.ToString(), *count);
  }
  // TensorFlow repeats the last written value, and takes 0 if none is written.
  if (written == 0) values.assign(size, 0);
  literal.splat_ = written <= 1;
  if (written > 1 && written < *count) {
    if (claims_too_much(written, size)) {
      return MakeError("the tensor's shape {0} claims far more than the {1} values written",
                       shape.ToString(), written);
    }
    std::string last = values.substr(values.size() - size);
    values.reserve(*count * size);
    while (static_cast<int64_t>(values.size() / size) < *count) values += last;
  }
  auto owner = std::make_shared<std::string>(std::move(values));
  literal.bytes_ = *owner;
  literal.owner_ = owner;
  if (*count == 0) literal.bytes_ = {};
  return literal;
}

Expected<Literal> Literal::FromConst(const Node& node) {
  std::optional<AttrView> value = node.FindAttr("value");
  std::optional<llvm::StringRef> tensor = value ? value->AsTensor() : std::nullopt;
  if (!tensor)
    return MakeError("node '{0}': attribute 'value' is missing or not a tensor", node.name());
  if (node.FindAttr(kValuesLeftOut))
    return MakeError("node '{0}': its value was left out of the graph (--no-values)", node.name());
  auto literal = FromTensorProto(*tensor);
  if (!literal) return Annotate("node '" + node.name() + "'", literal.takeError());
  DataType said = node.GetType("dtype");
  if (said != literal->dtype()) {
    return MakeError("node '{0}': attribute 'dtype' is {1}, the value is {2}{3}", node.name(),
                     DataTypeName(said), DataTypeName(literal->dtype()), DimsText(literal->dims()));
  }
  return literal;
}

DataType DataTypeOfTensor(llvm::StringRef tensor_proto) {
  WireReader reader(tensor_proto);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) return static_cast<DataType>(reader.number());
  }
  return proto::DT_INVALID;
}

std::string Literal::ToTensorProto(bool compress) const {
  llvm::StringRef content;
  std::string out = TensorProtoHead(compress, &content);
  out.append(content.data(), content.size());
  return out;
}

std::string Literal::TensorProtoHead(bool compress, llvm::StringRef* content) const {
  *content = {};
  std::string out;
  AppendVarintField(&out, 1, dtype_);
  AppendBytesField(&out, 2, Shape(dims_).ToProto().SerializeAsString());
  if (dtype_ == proto::DT_STRING) {
    for (int64_t i = 0; i < std::min<int64_t>(num_elements_, strings_->size()); ++i) {
      AppendBytesField(&out, 8, (*strings_)[i]);
    }
    return out;
  }
  size_t size = DataTypeSize(dtype_);
  llvm::StringRef bytes = num_elements_ == 0 ? llvm::StringRef() : bytes_;
  if (compress && bytes.size() > size &&
      std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0) {
    bytes = bytes.take_front(size);
  }
  if (compress && bytes.find_first_not_of('\0') == llvm::StringRef::npos) return out;
  constexpr size_t kReadable = 16;  // up to this many, a user may want to read them in a .pbtxt
  bool one_for_all = bytes.size() == size && num_elements_ > 1;
  if (!one_for_all && bytes.size() > kReadable * size) {
    AppendTag(&out, 4, WireType::kBytes);
    AppendVarint(&out, bytes.size());
    *content = bytes;
    return out;
  }
  if (!bytes.empty()) out += TypedValues(dtype_, bytes);
  return out;
}

std::string Literal::TypedValues(DataType dtype, llvm::StringRef bytes) {
  Storage storage = StorageOf(dtype);
  size_t size = DataTypeSize(dtype);
  std::string out, values;
  bool raw = storage == Storage::kF32 || storage == Storage::kF64 || storage == Storage::kC64 ||
             storage == Storage::kC128 || storage == Storage::kF8;
  if (raw) {
    values = bytes.str();
  } else {
    for (size_t i = 0; i < bytes.size(); i += size) {
      AppendVarint(&values, static_cast<uint64_t>(
                                LoadInt(bytes.data() + i, size, storage == Storage::kSigned)));
    }
  }
  AppendBytesField(&out, ValueField(dtype), values);
  return out;
}

}  // namespace grapnel
