// Tolerances must not let wrong values pass: corrupts each expected value of testdata, which must
// then differ.
#include <algorithm>
#include <cmath>
#include <set>

#include "gtest/gtest.h"
#include "lib/check/comparison.h"
#include "lib/io/case.h"
#include "lib/io/value.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

// Returns the numbers of a literal separately: two for each complex one.
Literal PartsOf(const Literal& of) {
  DataType type = of.dtype() == proto::DT_COMPLEX64    ? proto::DT_FLOAT
                  : of.dtype() == proto::DT_COMPLEX128 ? proto::DT_DOUBLE
                                                       : of.dtype();
  int64_t each = IsComplex(of.dtype()) ? 2 : 1;
  return Literal::Make(type, {of.num_elements() * each}, of.bytes());
}

// Returns `value` with the bytes of one number, `part`, at `places`.
Literal With(const Literal& value, llvm::ArrayRef<int64_t> places, llvm::StringRef part) {
  std::string bytes = value.bytes().str();
  for (int64_t i : places) bytes.replace(i * part.size(), part.size(), part.str());
  return Literal::Make(value.dtype(), value.dims(), bytes);
}

// Returns the positions of the parts that are finite and not 0, the smallest magnitude first.
std::vector<int64_t> BySize(const Literal& parts) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < parts.num_elements(); ++i) {
    double size = parts.AsDouble(i);
    if (size != 0 && std::isfinite(size)) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    return std::fabs(parts.AsDouble(a)) < std::fabs(parts.AsDouble(b));
  });
  return places;
}

// Returns a number that is 1 % larger, or by four steps if the dtype is coarser; the next number
// for integers.
std::string Spoilt(const Literal& parts, int64_t place) {
  size_t size = DataTypeSize(parts.dtype());
  std::string bytes = parts.bytes().substr(place * size, size).str();
  if (!IsFloating(parts.dtype())) {
    bytes[0] ^= 1;
    return bytes;
  }
  int digits = parts.dtype() == proto::DT_BFLOAT16 ? 7 : parts.dtype() == proto::DT_HALF ? 10 : 23;
  double value = parts.AsDouble(place);
  std::string more =
      Literal::Scalar(parts.dtype(), value * (1 + std::max(0.01, std::ldexp(4, -digits))))
          .bytes()
          .str();
  // The smallest numbers have no neighbor within 1 %.
  return more == bytes ? Literal::Scalar(parts.dtype(), value * 2).bytes().str() : more;
}

// Empties a fifth of the nonempty strings.
Literal WithoutTexts(const Literal& value) {
  std::vector<std::string> texts(value.strings());
  int64_t left =
      (std::count_if(texts.begin(), texts.end(), [](auto& text) { return !text.empty(); }) + 4) / 5;
  for (std::string& text : texts) {
    if (text.empty() || left == 0) continue;
    text.clear();
    --left;
  }
  return Literal::MakeStrings(value.dims(), std::move(texts));
}

// Corrupts the expected value of a fetch; it fails if a corrupted value passes.
class FetchCheck {
 public:
  FetchCheck(const Literal& expected, double rtol, double atol)
      : expected_(expected), rtol_(rtol), atol_(atol) {}

  // Returns why a missing value cannot be detected; "" if it can.
  std::string Check() const {
    EXPECT_TRUE(Passes(expected_));
    EXPECT_LE(atol_, AbsoluteTolerance(expected_, rtol_) * 1.05) << "see tools/tolerance.py";
    if (expected_.num_elements() == 0) {
      Literal more = expected_.dtype() == proto::DT_STRING
                         ? Literal::MakeStrings({1}, {""})
                         : Literal::Scalar(expected_.dtype(), 0).Reshaped({1});
      EXPECT_FALSE(Passes(more)) << "an element passes for none";
      return "no elements";
    }
    return expected_.dtype() == proto::DT_STRING ? CheckTexts() : CheckNumbers();
  }

 private:
  bool Passes(const Literal& got) const { return Compare(got, expected_, rtol_, atol_).same; }

  std::string CheckTexts() const {
    Literal without = WithoutTexts(expected_);
    if (!without.SameValue(expected_)) {
      EXPECT_FALSE(Passes(without)) << "texts that are missing pass";
      return "";
    }
    std::vector<std::string> texts(expected_.num_elements());
    texts[0] = "x";
    EXPECT_FALSE(Passes(Literal::MakeStrings(expected_.dims(), texts))) << "a text passes for none";
    return "\"\"";
  }

  std::string CheckNumbers() const {
    Literal parts = PartsOf(expected_);
    std::vector<int64_t> places = BySize(parts);
    if (places.empty()) {
      double little = IsFloating(parts.dtype()) ? 1e-6 : 1;
      std::string part = Literal::Scalar(parts.dtype(), little).bytes().str();
      EXPECT_FALSE(Passes(With(expected_, {0}, part))) << little << " passes for 0";
      return "zeros";
    }
    // The smallest fifth is the hardest to detect, and so is the smallest element of the larger
    // half.
    llvm::ArrayRef<int64_t> fifth = llvm::ArrayRef(places).take_front((places.size() + 4) / 5);
    std::string zero(DataTypeSize(parts.dtype()), 0);
    EXPECT_FALSE(Passes(With(expected_, fifth, zero))) << "zeros pass";
    for (int64_t place : {places[(places.size() - 1) / 2], places.back()}) {
      EXPECT_FALSE(Passes(With(expected_, place, Spoilt(parts, place))))
          << parts.AsDouble(place) << " may be 1 % more";
    }
    return "";
  }

  const Literal& expected_;
  double rtol_, atol_;
};

struct Counts {
  int fetches = 0;
  std::string nothing_missing;  // one line each, in the order of directories
};

void CheckCase(const std::string& folder, Counts* counts) {
  Case values = llvm::cantFail(LoadCase(folder));
  std::set<std::string> lines;
  for (const Case::Fetch& fetch : values.fetches) {
    llvm::StringRef name = llvm::StringRef(fetch.file).split('/').second;
    SCOPED_TRACE(name.str());
    Literal expected = llvm::cantFail(LoadNpyLiteral(fetch.file));
    ++counts->fetches;
    std::string why = FetchCheck(expected, values.rtol, fetch.atol).Check();
    if (!why.empty()) lines.insert((name + ": " + why + "\n").str());
  }
  for (const std::string& line : lines) counts->nothing_missing += line;
}

TEST(ToleranceTest, EveryFetchOfTestdataCanFail) {
  std::set<std::string> folders;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator at("testdata", code), end; at != end && !code;
       at.increment(code)) {
    if (IsCaseFolder(at->path())) folders.insert(at->path() + "/");
  }
  ASSERT_FALSE(code) << code.message();
  Counts counts;
  for (const std::string& folder : folders) CheckCase(folder, &counts);
  EXPECT_GE(counts.fetches, 1000);
  auto listed = llvm::cantFail(FileBytes::Open("tests/check/inputs/nothing_missing.txt"));
  llvm::StringRef known = listed->bytes();
  while (known.consume_front("#")) known = known.split('\n').second;
  EXPECT_EQ(counts.nothing_missing, known);
}

TEST(ToleranceTest, SmallElementsCountAsMuchAsTheMedian) {
  auto floats = [](std::initializer_list<float> values) {
    llvm::StringRef bytes(reinterpret_cast<const char*>(values.begin()), values.size() * 4);
    return Literal::Make(proto::DT_FLOAT, {static_cast<int64_t>(values.size())}, bytes);
  };
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_DOUBLE_EQ(AbsoluteTolerance(floats({0, -4, 1, inf, 8, 2, 16}), 1e-3), 4e-3);
  EXPECT_DOUBLE_EQ(AbsoluteTolerance(floats({0.001F, 1, 10, 1e10F, 1e20F}), 1e-3),
                   static_cast<double>(0.001F) / 10);
  EXPECT_EQ(AbsoluteTolerance(floats({0, -0.F, inf}), 1e-3), 0);
  EXPECT_EQ(AbsoluteTolerance(Literal::Vector32({1, 2}), 1e-3), 0);
}

}  // namespace
}  // namespace grapnel
