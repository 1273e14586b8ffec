#include "ndarray_encode.h"

#include <cstdint>
#include <cstring>

#include "shortest.h"

namespace serving {
namespace {

inline char* WriteWord(char* out, const char* word, size_t length) {
  std::memcpy(out, word, length);
  return out + length;
}

// Writes floats, given as their bits.
template <class Format>
struct FloatText {
  using Value = typename Format::Bits;
  NonFinite non_finite;

  char* operator()(char* out, Value bits) const {
    constexpr Value kExponentMask = static_cast<Value>(((Value{1} << Format::kExponent) - 1) << Format::kFraction);
    if ((bits & kExponentMask) != kExponentMask) return WriteFloat<Format>(out, bits);
    if (non_finite == NonFinite::kError) return nullptr;
    if (non_finite == NonFinite::kNull) return WriteWord(out, "null", 4);
    if (bits & ((Value{1} << Format::kFraction) - 1)) return WriteWord(out, "NaN", 3);
    return bits >> (Format::kFraction + Format::kExponent) ? WriteWord(out, "-Infinity", 9)
                                                           : WriteWord(out, "Infinity", 8);
  }
};

template <class T>
struct IntegerText {
  using Value = T;
  char* operator()(char* out, T value) const { return WriteNumber(out, value); }
};

struct BoolText {
  using Value = uint8_t;
  char* operator()(char* out, uint8_t value) const {
    return value ? WriteWord(out, "true", 4) : WriteWord(out, "false", 5);
  }
};

template <class Text>
Status Encode(const Array& array, Text text, char* const begin, size_t& length) {
  using Value = typename Text::Value;
  const Value* element = static_cast<const Value*>(array.data);
  const size_t row = array.rank == 0 ? 1 : array.dims[array.rank - 1];
  // Rows left in each dimension but the last.
  size_t left[kMaxDimensions];
  for (int i = 0; i < array.rank; i++) left[i] = array.dims[i];
  char* out = begin;
  std::memset(out, '[', static_cast<size_t>(array.rank));
  out += array.rank;
  for (const Value* const end = element + array.count; element != end;) {
    for (const Value* const row_end = element + row;;) {
      out = text(out, *element);
      if (out == nullptr) return Status::kNonFinite;
      if (++element == row_end) break;
      *out++ = ',';
    }
    if (element == end) break;
    int level = array.rank - 1;
    *out++ = ']';
    while (--left[level - 1] == 0) {
      *out++ = ']';
      left[level - 1] = array.dims[level - 1];
      level--;
    }
    *out++ = ',';
    for (; level < array.rank; level++) *out++ = '[';
  }
  std::memset(out, ']', static_cast<size_t>(array.rank));
  length = static_cast<size_t>(out - begin) + static_cast<size_t>(array.rank);
  return Status::kOk;
}

// Returns the longest text of floats whose magnitudes lie in a range; a plain loop, which compilers vectorize.
template <class Format>
size_t WidestFloat(const Array& array) {
  using Bits = typename Format::Bits;
  const Bits* const data = static_cast<const Bits*>(array.data);
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (Format::kFraction + Format::kExponent));
  // Magnitudes compare as their bits do. 0 would be the smallest, but its text is short: it wraps around to the
  // largest.
  Bits max_bits = 0;
  Bits min_bits = static_cast<Bits>(-1);
  for (size_t i = 0; i < array.count; i++) {
    const Bits size = static_cast<Bits>(data[i] & static_cast<Bits>(kSign - 1));
    const Bits nonzero = static_cast<Bits>(size - 1);
    if (size > max_bits) max_bits = size;
    if (nonzero < min_bits) min_bits = nonzero;
  }
  constexpr Bits kBias = (Bits{1} << (Format::kExponent - 1)) - 1;
  constexpr int kDigits = Format::kFraction == 52 ? 17 : Format::kFraction == 23 ? 9 : 5;
  // From 2^-9 to 2^29 a text has a sign, "0.00" or a point, ".0" and the digits, nothing else; -Infinity has 9
  // characters.
  const bool usual = min_bits >= ((kBias - 9) << Format::kFraction) && max_bits < ((kBias + 29) << Format::kFraction);
  return usual && Format::kFraction > 10 ? kDigits + 5 : 26;
}

size_t Bound(const Array& array, size_t widest) {
  const size_t rank = static_cast<size_t>(array.rank);
  const size_t rows = array.rank == 0 ? 1 : array.count / array.dims[array.rank - 1];
  // Each element with its comma; at worst the end and the beginning of all levels for each row; slack for writes beyond
  // the last text.
  const size_t per_element = widest + 1;
  const size_t per_row = 2 * rank + 1;
  if (array.count > SIZE_MAX / 128 / per_row) return SIZE_MAX;
  return array.count * per_element + rows * per_row + 2 * rank + kFloatRoom;
}

}  // namespace

size_t ScannedBound(const Array& array) {
  return Bound(array, array.dtype == Dtype::kFloat64   ? WidestFloat<Binary64>(array)
                      : array.dtype == Dtype::kFloat32 ? WidestFloat<Binary32>(array)
                                                       : TypeOf(array.dtype).longest_text);
}

size_t EncodedBound(const Array& array) { return Bound(array, TypeOf(array.dtype).longest_text); }

Status EncodeNdarray(const Array& array, NonFinite non_finite, char* out, size_t& length) {
  Status status;
  const auto write = [&](auto zero) { status = Encode(array, IntegerText<decltype(zero)>{}, out, length); };
  if (WithInteger(array.dtype, write)) return status;
  switch (array.dtype) {
    case Dtype::kBool:
      return Encode(array, BoolText{}, out, length);
    case Dtype::kFloat16:
      return Encode(array, FloatText<Binary16>{non_finite}, out, length);
    case Dtype::kFloat32:
      return Encode(array, FloatText<Binary32>{non_finite}, out, length);
    default:
      return Encode(array, FloatText<Binary64>{non_finite}, out, length);
  }
}

}  // namespace serving
