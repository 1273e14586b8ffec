// float16 as its IEEE 754 bits.
#pragma once

#include <cstdint>
#include <cstring>

namespace serving {

// Returns the float16 bits of a double: nearest, ties to even, in one rounding, as numpy casts. Integer arithmetic
// only.
inline uint16_t ToHalfBits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  const uint16_t sign = static_cast<uint16_t>((bits >> 48) & 0x8000);
  const uint64_t size = bits & 0x7FFFFFFFFFFFFFFFu;
  if (size > 0x7FF0000000000000u) return 0x7E00;
  if (size >= 0x40EFFE0000000000u) return sign | 0x7C00;  // 65520 and above
  const int exponent = static_cast<int>(size >> 52) - 1023;
  if (exponent < -25) return sign;
  const uint64_t mantissa = (size & 0xFFFFFFFFFFFFFu) | 0x10000000000000u;
  const int shift = exponent < -14 ? 42 + (-14 - exponent) : 42;
  const uint64_t whole = mantissa >> shift;
  const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t rounded = whole + (rest > half || (rest == half && (whole & 1)) ? 1 : 0);
  // Normal numbers carry their hidden bit, which is one unit of the exponent field: hence 14, not 15.
  return static_cast<uint16_t>(sign |
                               (exponent < -14 ? rounded : ((static_cast<uint64_t>(exponent + 14) << 10) + rounded)));
}

}  // namespace serving
