// JSON number tokens: scanned once, converted only as far as the element type asks.
#pragma once

#include <cstdint>

namespace serving {

struct NumberToken {
  const uint8_t* start;
  const uint8_t* end;
  // The first 19 significant digits at most; the value is mantissa × 10^exponent when `digits` is at most 19.
  uint64_t mantissa;
  int64_t exponent;
  // Digits written; beyond 19, only those from the first significant one.
  int64_t digits;
  // The exponent as written; only set beyond 19 digits.
  int64_t written;
  bool negative;
  // Neither fraction nor exponent.
  bool integer;
};

// Scans a number by JSON's grammar. False when there is no whole number at `p`.
bool ScanNumber(const uint8_t* p, const uint8_t* end, NumberToken& token);

// The double nearest to the token, infinite when it overflows: bit for bit what JSON.parse gives.
double ToDouble(const NumberToken& token);

}  // namespace serving
