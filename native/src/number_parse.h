// JSON number tokens: scanned once, converted only as far as the element type needs.
#pragma once

#include <cfloat>
#include <cstdint>
#include <cstring>

#include "powers_of_ten.h"
#include "swar.h"

namespace serving {

struct NumberToken {
  const uint8_t* start;
  const uint8_t* end;
  // At most the first 19 significant digits; the value is mantissa × 10^exponent when `digits` is at most 19.
  uint64_t mantissa;
  int64_t exponent;
  // Number of digits written; beyond 19, counted from the first significant one.
  int64_t digits;
  // The exponent as written; only set beyond 19 digits.
  int64_t written;
  bool negative;
  // Whether there is neither a fraction nor an exponent.
  bool integer;
};

// Scans a number by JSON's grammar. Returns false when there is no complete number at `p`.
bool ScanNumber(const uint8_t* p, const uint8_t* end, NumberToken& token);

// Returns the double nearest to any token, infinite when it overflows: bit for bit what JSON.parse returns.
double ToDoubleSurely(NumberToken token);

// Sets `magnitude` to that of an integer token. Returns false beyond 64 bits.
inline bool Magnitude(const NumberToken& token, uint64_t& magnitude) {
  magnitude = token.mantissa;
  if (token.digits <= 19) return true;
  if (token.digits > 20) return false;
  // The mantissa holds 19 digits; the 20th is the token's last byte.
  const uint64_t last = token.end[-1] - '0';
  if (magnitude > (UINT64_MAX - last) / 10) return false;
  magnitude = magnitude * 10 + last;
  return true;
}

// Returns how many of eight bytes are digits before the first non-digit; sets `digits` to their values.
SERVING_INLINE int CountDigits(uint64_t bytes, uint64_t& digits) {
  digits = bytes ^ kAsciiZeros;
  // Only the lowest non-digit byte counts: a carry out of it may reach the bytes above.
  const uint64_t others = (digits | (digits + 0x7676767676767676u)) & 0x8080808080808080u;
  return others == 0 ? 8 : TrailingZeros(others) >> 3;
}

// At namespace scope: inside a function, compilers build the table on the stack at each call.
inline constexpr uint32_t kPowersBelowEight[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
inline constexpr int kMaxExactDigits = 15;
inline constexpr double kExactPowers[kMaxExactDigits + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Appends the digits up to the first non-digit to the number: eight at once, then the rest without a branch on how
// many. Returns false beyond 19 digits.
SERVING_INLINE bool AppendDigits(const uint8_t*& p, int& total, uint64_t& number) {
  uint64_t digits;
  int count;
  while ((count = CountDigits(LoadEight(p), digits)) == 8) {
    total += 8;
    if (total > 19) return false;
    number = number * 100000000 + JoinEight(digits);
    p += 8;
  }
  total += count;
  p += count;
  number = number * kPowersBelowEight[count] + JoinEight(digits << (8 * (7 - count)) << 8);
  return total <= 19;
}

// Most bytes that ScanPlain reads: a sign, 19 digits and a point, then a word or an exponent.
constexpr int kPlainReach = 32;

// Like ScanNumber for nearly all numbers, inlined into loops: at most 19 digits, an exponent of at most three digits,
// not at the end of the text. Returns false when ScanNumber must be called.
SERVING_INLINE bool ScanPlain(const uint8_t* p, const uint8_t* end, NumberToken& token) {
  if (end - p < kPlainReach) return false;
  token.start = p;
  token.negative = *p == '-';
  p += token.negative;
  int digits = 1;
  uint64_t mantissa = *p - uint64_t{'0'};
  if (p[1] == '.' && mantissa < 10) {
    p++;
  } else {
    const uint8_t* const first = p;
    digits = 0;
    mantissa = 0;
    // At least one digit, and only one if the first is zero: in one comparison, since zeros are unpredictable.
    if (!AppendDigits(p, digits, mantissa) || static_cast<unsigned>(digits - 1) > (*first == '0' ? 0u : 18u)) {
      return false;
    }
  }
  token.integer = *p != '.';
  const uint8_t* const point = p;
  if (!token.integer && (!AppendDigits(++p, digits, mantissa) || p == point + 1)) return false;
  int exponent = token.integer ? 0 : static_cast<int>(point + 1 - p);
  if ((*p | 0x20) == 'e') {
    token.integer = false;
    const bool minus = *++p == '-';
    p += minus || *p == '+';
    const uint8_t* const power = p;
    int written = 0;
    for (; p != power + 3 && static_cast<uint8_t>(*p - '0') < 10; p++) written = written * 10 + (*p - '0');
    if (p == power || static_cast<uint8_t>(*p - '0') < 10) return false;
    exponent += minus ? -written : written;
  }
  token.end = p;
  token.mantissa = mantissa;
  token.exponent = exponent;
  token.digits = digits;
  return true;
}

// Like ToDoubleSurely, fast for nearly all tokens.
SERVING_INLINE double ToDouble(const NumberToken& token) {
  uint64_t bits;
  if (FLT_EVAL_METHOD == 0 && token.digits <= kMaxExactDigits && token.exponent <= 0 &&
      token.exponent >= -kMaxExactDigits) {
    // Exact operands, so that only the division rounds (Clinger, 1990).
    const double value = static_cast<double>(static_cast<int64_t>(token.mantissa)) / kExactPowers[-token.exponent];
    std::memcpy(&bits, &value, 8);
  } else {
    // One half of Eisel-Lemire (Lemire, "Number Parsing at a Gigabyte per Second", 2021), for normal doubles.
    if (token.digits > 19 || token.mantissa == 0 || token.exponent < -290 || token.exponent > 270) {
      return ToDoubleSurely(token);
    }
    const int exponent = static_cast<int>(token.exponent);
    const int unused = LeadingZeros(token.mantissa);
    // The true product is between `high` and `high` + 1. Nine bits are below the rounding bit: at either end of their
    // range they do not decide to which side the value rounds.
    const uint64_t high = Multiply(token.mantissa << unused, PowerOfTen(exponent).high).high;
    if (((high + 1) & 0x1FF) <= 1) return ToDoubleSurely(token);
    const int top = static_cast<int>(high >> 63);
    const uint64_t significand = ((high >> (9 + top)) + 1) >> 1;
    // Not biased by 1023: the significand's highest bit adds one, and another if it was rounded up to 2^53.
    const uint64_t biased = static_cast<uint64_t>(FloorLog2Of10(exponent) + 63 - unused + top + 1022);
    bits = (biased << 52) + significand;
  }
  bits |= uint64_t{token.negative} << 63;
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}

}  // namespace serving
