// Shortest decimals that read back as the same float.
#pragma once

#include <cstdint>
#include <type_traits>

namespace serving {

// A binary floating-point format by the widths of its fields. For printing, a normal number's significand is scaled to
// a whole number and one more digit: `kDigits` is the number of digits of the largest whole number, `kTensShorter` how
// many fewer it can have.
struct Binary64 {
  using Bits = uint64_t;
  static constexpr int kFraction = 52;
  static constexpr int kExponent = 11;
  static constexpr int kDigits = 16;
  static constexpr int kTensShorter = 1;
};
struct Binary32 {
  using Bits = uint32_t;
  static constexpr int kFraction = 23;
  static constexpr int kExponent = 8;
  static constexpr int kDigits = 8;
  static constexpr int kTensShorter = 2;
};
struct Binary16 {
  using Bits = uint16_t;
  static constexpr int kFraction = 10;
  static constexpr int kExponent = 5;
  static constexpr int kDigits = 8;
  static constexpr int kTensShorter = 5;
};

// Bytes that WriteFloat may touch from `out` on; the text itself has 25 at most.
constexpr int kFloatRoom = 48;

// Writes a finite float, given by its bits, in JavaScript's layout with ".0" on integral values. Returns the end.
template <class Format>
char* WriteFloat(char* out, typename Format::Bits bits);

extern template char* WriteFloat<Binary64>(char*, uint64_t);
extern template char* WriteFloat<Binary32>(char*, uint32_t);
extern template char* WriteFloat<Binary16>(char*, uint16_t);

// Writes an unsigned integer. Returns the end; touches 24 bytes at most.
char* WriteInteger(char* out, uint64_t value);

// Writes an integer of any type like WriteInteger.
template <class T>
char* WriteNumber(char* out, T value) {
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (std::is_signed<T>::value && value < 0) {
    *out++ = '-';
    magnitude = uint64_t{0} - magnitude;
  }
  return WriteInteger(out, magnitude);
}

}  // namespace serving
