// DecodeJSONExample: tf.train.Example from protobuf's JSON into its bytes.
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/text/base64.h"
#include "kernels/cpu/text/number_text.h"
#include "lib/ir/wire.h"
#include "nlohmann/json.hpp"

namespace grapnel {
namespace {

using Json = nlohmann::ordered_json;

// The members of a message; every key must be one of `fields`, under its name or in lower camel
// case. Calls found(index, value) for those that are not null.
using Found = llvm::function_ref<Error(size_t field, const Json& value)>;
Error ForFields(const Json& message, llvm::ArrayRef<llvm::StringRef> fields, Found found) {
  if (!message.is_object()) return MakeError("an object was expected");
  for (auto it = message.begin(); it != message.end(); ++it) {
    size_t field = 0;
    std::string key = it.key();
    for (; field < fields.size(); ++field) {
      std::string camel;
      for (size_t i = 0; i < fields[field].size(); ++i) {
        char c = fields[field][i];
        if (c == '_')
          camel += static_cast<char>(fields[field][++i] - 'a' + 'A');
        else
          camel += c;
      }
      if (fields[field] == key || camel == key) break;
    }
    if (field == fields.size()) return MakeError("no field is named '{0}'", key);
    if (!it.value().is_null()) RETURN_IF_ERROR(found(field, it.value()));
  }
  return Error::success();
}

Error AppendBytes(const Json& value, std::string* list) {
  if (!value.is_string()) return MakeError("bytes are a string in base 64");
  auto bytes = DecodeBase64(value.get_ref<const std::string&>(), Base64Alphabet::kEither);
  if (!bytes) return MakeError("bytes that are no base 64");
  AppendBytesField(list, 1, *bytes);
  return Error::success();
}

Error AppendFloat(const Json& value, std::string* list) {
  double number = 0;
  if (value.is_number()) {
    number = value.get<double>();
  } else {
    llvm::StringRef text;
    if (value.is_string()) text = value.get_ref<const std::string&>();
    if (text == "NaN")
      number = std::numeric_limits<double>::quiet_NaN();
    else if (text == "Infinity" || text == "-Infinity")
      number = text.front() == '-' ? -INFINITY : INFINITY;
    else if (!ParseNumber(text, number) || text != text.trim())
      return MakeError("a float was expected");
  }
  if (std::isfinite(number) && std::fabs(number) > std::numeric_limits<float>::max())
    return MakeError("{0} is too large for a float", number);
  float single = static_cast<float>(number);
  char bytes[4];
  std::memcpy(bytes, &single, 4);
  AppendTag(list, 1, WireType::kFixed32);
  list->append(bytes, 4);
  return Error::success();
}

Error AppendInt64(const Json& value, std::string* list) {
  int64_t number = 0;
  bool good = false;
  if (value.is_number_unsigned()) {
    good = value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
    number = static_cast<int64_t>(value.get<uint64_t>());
  } else if (value.is_number_integer()) {
    good = true;
    number = value.get<int64_t>();
  } else if (value.is_number_float()) {
    double real = value.get<double>();
    good = real >= -0x1p63 && real < 0x1p63 && std::trunc(real) == real;
    if (good) number = static_cast<int64_t>(real);
  } else if (value.is_string()) {
    good = ParseNumber<int64_t>(value.get_ref<const std::string&>(), number);
  }
  if (!good) return MakeError("an int64 was expected");
  AppendVarintField(list, 1, static_cast<uint64_t>(number));
  return Error::success();
}

Error AppendFeature(const Json& feature, std::string* out) {
  static constexpr Error (*kAppend[])(const Json&, std::string*) = {AppendBytes, AppendFloat,
                                                                    AppendInt64};
  int kinds = 0;
  return ForFields(
      feature, {"bytes_list", "float_list", "int64_list"},
      [&](size_t kind, const Json& list) -> Error {
        if (++kinds > 1) return MakeError("a feature has one kind of list");
        std::string bytes;
        RETURN_IF_ERROR(ForFields(list, {"value"}, [&](size_t, const Json& values) -> Error {
          if (!values.is_array()) return MakeError("a list of values was expected");
          for (const Json& value : values) RETURN_IF_ERROR(kAppend[kind](value, &bytes));
          return Error::success();
        }));
        AppendBytesField(out, static_cast<uint32_t>(kind) + 1, bytes);
        return Error::success();
      });
}

Error AppendFeatures(const Json& features, std::string* out) {
  return ForFields(features, {"feature"}, [&](size_t, const Json& map) -> Error {
    if (!map.is_object()) return MakeError("a map of features was expected");
    for (auto it = map.begin(); it != map.end(); ++it) {
      std::string entry, feature;
      AppendBytesField(&entry, 1, it.key());
      if (Error error = AppendFeature(it.value(), &feature))
        return Annotate("feature '" + it.key() + "'", std::move(error));
      AppendBytesField(&entry, 2, feature);
      AppendBytesField(out, 1, entry);
    }
    return Error::success();
  });
}

Error DecodeJsonExample(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    Json json = Json::parse(in.data<std::string>()[i], nullptr, false);
    if (json.is_discarded()) return MakeError("element {0} is no JSON", i);
    std::string bytes;
    Error error = ForFields(json, {"features"}, [&](size_t, const Json& features) -> Error {
      std::string inner;
      RETURN_IF_ERROR(AppendFeatures(features, &inner));
      AppendBytesField(&bytes, 1, inner);
      return Error::success();
    });
    if (error) return Annotate("element " + std::to_string(i), std::move(error));
    out->data<std::string>()[i] = std::move(bytes);
  }
  return Error::success();
}

GRAPNEL_CPU_KERNEL("DecodeJSONExample", KernelOf<DecodeJsonExample>);

}  // namespace
}  // namespace grapnel
