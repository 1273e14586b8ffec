// Powers of ten to 128 bits, for reading and for printing.
#pragma once

#include <cstdint>

namespace serving {

struct Wide {
  uint64_t high;
  uint64_t low;
};

constexpr int kSmallestPower = -342;
constexpr int kLargestPower = 324;

struct PowerTable {
  Wide powers[kLargestPower - kSmallestPower + 1];
};
extern const PowerTable kPowerTable;

// Returns the 128 highest bits of 10^k, the first of them set. Exact for k from 0 to 55, rounded up for the others.
inline const Wide& PowerOfTen(int k) { return kPowerTable.powers[k - kSmallestPower]; }

// Returns the exponent of 10^k's highest bit.
constexpr int FloorLog2Of10(int k) { return (k * 1741647) >> 19; }

inline Wide Multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
#else
  const uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
  const uint64_t other = a0 * b1 + (middle & 0xFFFFFFFFu);
  return {a1 * b1 + (middle >> 32) + (other >> 32), a * b};
#endif
}

}  // namespace serving
