// Casts of a number, a word, null or a boolean to each element type.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "half.h"
#include "ndarray_parse.h"
#include "number_parse.h"
#include "status.h"

namespace serving {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kMaxExact = uint64_t{1} << 53;

// A store casts a token to its element type and writes through `out`. Returns kOk, kDtype, kRange or kPrecision.

struct FloatStore {
  using Value = double;
  Status Number(const NumberToken& token, double* out) {
    *out = ToDouble(token);
    return std::isinf(*out) ? Status::kRange : Status::kOk;
  }
  Status Word(double value, double* out) { return *out = value, Status::kOk; }
  Status Null(double* out) { return Word(kNaN, out); }
  Status Bool(bool value, double* out) { return Word(value ? 1 : 0, out); }
  Dtype Found() const { return Dtype::kFloat64; }
};

struct InferringStore : FloatStore {
  bool saw_number = false;
  bool saw_bool = false;
  Status Number(const NumberToken& token, double* out) {
    saw_number = true;
    if (token.integer && (token.digits > 19 || token.mantissa > kMaxExact)) return Status::kPrecision;
    return FloatStore::Number(token, out);
  }
  Status Word(double value, double* out) { return saw_number = true, *out = value, Status::kOk; }
  Status Null(double* out) { return Word(kNaN, out); }
  Status Bool(bool value, double* out) { return saw_bool = true, *out = value ? 1 : 0, Status::kOk; }
  Dtype Found() const { return saw_bool && !saw_number ? Dtype::kBool : Dtype::kFloat64; }
};

struct SingleStore {
  using Value = float;
  // Halfway between the largest float and 2^128: from here up rounding gives infinity.
  static constexpr double kBound = 0x1.ffffffp127;
  Status Number(const NumberToken& token, float* out) {
    const double value = ToDouble(token);
    if (!(value > -kBound && value < kBound)) return Status::kRange;
    return Word(value, out);
  }
  Status Word(double value, float* out) { return *out = static_cast<float>(value), Status::kOk; }
  Status Null(float* out) { return Word(kNaN, out); }
  Status Bool(bool value, float* out) { return Word(value ? 1 : 0, out); }
  Dtype Found() const { return Dtype::kFloat32; }
};

struct HalfStore {
  using Value = uint16_t;
  Status Number(const NumberToken& token, uint16_t* out) {
    const double value = ToDouble(token);
    if (!(value > -65520 && value < 65520)) return Status::kRange;
    return Word(value, out);
  }
  Status Word(double value, uint16_t* out) { return *out = ToHalfBits(value), Status::kOk; }
  Status Null(uint16_t* out) { return Word(kNaN, out); }
  Status Bool(bool value, uint16_t* out) { return Word(value ? 1 : 0, out); }
  Dtype Found() const { return Dtype::kFloat16; }
};

struct BoolStore {
  using Value = uint8_t;
  bool enforced;
  // By the double, not the mantissa: 1e-400 is 0 as a double, and so false.
  Status Number(const NumberToken& token, uint8_t* out) { return Any(ToDouble(token) != 0, out); }
  Status Word(double, uint8_t* out) { return Any(true, out); }
  Status Null(uint8_t* out) { return Any(false, out); }
  Status Any(bool value, uint8_t* out) { return *out = value, enforced ? Status::kDtype : Status::kOk; }
  Status Bool(bool value, uint8_t* out) { return *out = value, Status::kOk; }
  Dtype Found() const { return Dtype::kBool; }
};

template <class T>
struct IntegerStore {
  using Value = T;
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kMax = std::numeric_limits<T>::max();
  Cast cast;
  Status Number(const NumberToken& token, T* out) {
    if (token.integer) {
      uint64_t magnitude;
      if (!Magnitude(token, magnitude)) return Status::kRange;
      const uint64_t limit = token.negative ? uint64_t{0} - static_cast<uint64_t>(static_cast<int64_t>(kMin)) : kMax;
      if (magnitude > limit) return Status::kRange;
      *out = static_cast<T>(token.negative ? uint64_t{0} - magnitude : magnitude);
      return Status::kOk;
    }
    if (cast.enforced) return Status::kDtype;
    const double value = std::trunc(ToDouble(token));
    // kMax + 1 is a power of two and so an exact double; NaN cannot come from a token.
    constexpr double kBeyond = 2.0 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
    if (!(value >= static_cast<double>(kMin) && value < kBeyond)) return Status::kRange;
    *out = static_cast<T>(value);
    return Status::kOk;
  }
  Status Word(double, T*) { return Status::kDtype; }
  Status Null(T*) { return Status::kDtype; }
  Status Bool(bool value, T* out) { return *out = value, Status::kOk; }
  Dtype Found() const { return cast.dtype; }
};

}  // namespace serving
