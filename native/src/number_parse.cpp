// simdjson's Eisel-Lemire conversion handles the tokens that ToDouble cannot decide. The parsing is our own: for lists
// of numbers, in nanoseconds of CPU time per number (measured with simdjson 0.9.1, 20,000 numbers; ADR 017):
//
//                            ScanPlain, ToDouble   the same, std::from_chars   simdjson DOM and   simdjson
//                            and simdjson          instead of simdjson         one copy           On Demand
//   17 digits                15.1                  16.4                        16.8               19.6
//   24 digits                62.6                  163                         137                24
//   2 digits                  8.8                  8.9                         9.5                7.8
//
// On Demand is faster for short numbers, but needs a copy of the text with room behind it and an index of four bytes
// for each token, and has neither our element types nor the offsets of errors.
#include "number_parse.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <system_error>

#include "simdjson.h"

namespace serving {
namespace {

inline bool IsDigit(uint8_t byte) { return static_cast<uint8_t>(byte - '0') < 10; }

inline const uint8_t* Digits(const uint8_t* p, const uint8_t* end, uint64_t& mantissa) {
  uint64_t eight;
  while (end - p >= 8 && CountDigits(LoadEight(p), eight) == 8) {
    mantissa = mantissa * 100000000 + JoinEight(eight);
    p += 8;
  }
  while (p < end && IsDigit(*p)) mantissa = mantissa * 10 + (*p++ - '0');
  return p;
}

// Calls `take` with each of the first `max` significant digits of a token that has more than 19. Returns their number;
// sets `exponent` to the power of ten of the last one.
template <class Take>
int64_t SignificantDigits(const NumberToken& token, int64_t max, int64_t& exponent, const Take& take) {
  int64_t digits = 0;
  int64_t places = 0;
  int64_t dropped = 0;
  bool in_fraction = false;
  for (const uint8_t* p = token.start + (token.negative ? 1 : 0); p < token.end && (IsDigit(*p) || *p == '.'); p++) {
    if (*p == '.') {
      in_fraction = true;
      continue;
    }
    if (in_fraction) places++;
    if (digits == 0 && *p == '0') continue;
    if (++digits <= max) {
      take(*p);
    } else {
      dropped++;
    }
  }
  exponent = token.written - places + dropped;
  return digits;
}

// Rounds mantissa × 10^exponent. Returns false when only the exact digits can decide.
inline bool Round(uint64_t mantissa, int64_t exponent, double& value) {
  if (mantissa == 0 || exponent < simdjson::internal::smallest_power) {
    value = 0;
    return true;
  }
  if (exponent > simdjson::internal::largest_power) {
    value = std::numeric_limits<double>::infinity();
    return true;
  }
  return simdjson::SIMDJSON_BUILTIN_IMPLEMENTATION::numberparsing::compute_float_64(exponent, mantissa, false, value);
}

// Beyond 767 significant digits only one bit matters: whether any further digit is not zero.
constexpr int64_t kMaxDigits = 780;

// The exact conversion, for the one token in thousands that is near the midpoint of two doubles. Uses a clean copy of
// the digits: libraries clamp long exponents, which long runs of zeros can compensate.
double ToDoubleExactly(const NumberToken& token) {
  char text[kMaxDigits + 32];
  char* out = text;
  int64_t exponent = token.exponent;
  if (token.digits <= 19) {
    out += std::snprintf(out, 24, "%llu", static_cast<unsigned long long>(token.mantissa));
  } else {
    bool rest = false;
    int64_t taken = 0;
    SignificantDigits(token, INT64_MAX, exponent, [&](uint8_t digit) {
      if (++taken <= kMaxDigits) {
        *out++ = static_cast<char>(digit);
      } else {
        rest = rest || digit != '0';
      }
    });
    if (taken > kMaxDigits) {
      exponent += taken - kMaxDigits - 1;
      *out++ = rest ? '1' : '0';
    }
  }
  const char* const digits_end = out;
  out += std::snprintf(out, 24, "e%lld", static_cast<long long>(exponent));
#if defined(__cpp_lib_to_chars)
  // Compares big integers. simdjson shifts decimals instead: up to 15 µs a number, which a hostile body could be full
  // of.
  double value = 0;
  if (std::from_chars(text, out, value).ec == std::errc::result_out_of_range) {
    value = digits_end - text + exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
  }
  return value;
#else
  static_cast<void>(digits_end);
  return simdjson::internal::from_chars(text);
#endif
}

}  // namespace

bool ScanNumber(const uint8_t* p, const uint8_t* end, NumberToken& token) {
  token.start = p;
  token.negative = p < end && *p == '-';
  if (token.negative) p++;
  const uint8_t* const first = p;
  if (p >= end || !IsDigit(*p)) return false;
  uint64_t mantissa = *p++ - '0';
  if (mantissa != 0) p = Digits(p, end, mantissa);
  token.digits = p - first;
  token.exponent = 0;
  token.integer = true;
  if (p < end && *p == '.') {
    token.integer = false;
    const uint8_t* const point = ++p;
    p = Digits(p, end, mantissa);
    if (p == point) return false;
    token.exponent = point - p;
    token.digits += p - point;
  }
  int64_t written = 0;
  if (p < end && (*p | 0x20) == 'e') {
    token.integer = false;
    p++;
    const bool minus = p < end && *p == '-';
    if (minus || (p < end && *p == '+')) p++;
    const uint8_t* const power = p;
    // Capped: a text of 4 GB cannot bring an exponent beyond 10^10 back into range.
    for (; p < end && IsDigit(*p); p++) {
      if (written < 100000000000) written = written * 10 + (*p - '0');
    }
    if (p == power) return false;
    if (minus) written = -written;
    token.exponent += written;
  }
  token.end = p;
  token.mantissa = mantissa;
  if (token.digits > 19) {
    // The mantissa has wrapped around: scans again and keeps only the first 19 digits.
    token.written = written;
    mantissa = 0;
    token.digits =
        SignificantDigits(token, 19, token.exponent, [&](uint8_t digit) { mantissa = mantissa * 10 + (digit - '0'); });
    token.mantissa = mantissa;
  }
  return true;
}

SERVING_RARE double ToDoubleSurely(NumberToken token) {
  double value;
  bool sure = Round(token.mantissa, token.exponent, value);
  if (sure && token.digits > 19) {
    // The digits cut off are between the mantissa and its successor: when both round to the same double, so does the
    // token.
    double above;
    sure = Round(token.mantissa + 1, token.exponent, above) && above == value;
  }
  if (!sure) value = ToDoubleExactly(token);
  return token.negative ? -value : value;
}

}  // namespace serving
