// Computed at compile time. Not taken from simdjson: the low halves of its table (version 0.9.1) are wrong from 10^-27
// to 10^-18, which printed some doubles near 10^34 as their neighbours.
#include "powers_of_ten.h"

#include <cstddef>

namespace serving {
namespace {

// A natural number in 32-bit words, the lowest first; enough for 5^324 and for 2^(kWords × 32 - 1) / 5^342.
constexpr int kWords = 30;
struct Big {
  uint32_t words[kWords];
};

constexpr bool BitAt(const Big& big, int at) { return at >= 0 && (big.words[at / 32] >> (at % 32) & 1) != 0; }

// Returns the 128 highest bits, rounded up when any lower bit is set or, with `cut`, when bits were cut off before.
constexpr Wide Highest(const Big& big, bool cut) {
  int top = kWords * 32 - 1;
  while (!BitAt(big, top)) top--;
  Wide result{0, 0};
  for (int i = 0; i < 64; i++) {
    result.high = result.high << 1 | (BitAt(big, top - i) ? 1 : 0);
    result.low = result.low << 1 | (BitAt(big, top - 64 - i) ? 1 : 0);
  }
  for (int at = top - 128; at >= 0 && !cut; at--) cut = BitAt(big, at);
  if (cut && ++result.low == 0) result.high++;
  return result;
}

constexpr PowerTable Make() {
  PowerTable table{};
  Wide* const one = table.powers - kSmallestPower;
  Big big{};
  big.words[0] = 1;
  for (int k = 0; k <= kLargestPower; k++) {
    one[k] = Highest(big, false);
    uint64_t carry = 0;
    for (int i = 0; i < kWords; i++) {
      carry += uint64_t{5} * big.words[i];
      big.words[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  for (int i = 0; i < kWords; i++) big.words[i] = 0;
  big.words[kWords - 1] = uint32_t{1} << 31;
  for (int k = -1; k >= kSmallestPower; k--) {
    uint64_t rest = 0;
    for (int i = kWords - 1; i >= 0; i--) {
      rest = rest << 32 | big.words[i];
      big.words[i] = static_cast<uint32_t>(rest / 5);
      rest %= 5;
    }
    // No power of five divides a power of two.
    one[k] = Highest(big, true);
  }
  return table;
}

}  // namespace

constexpr PowerTable kPowerTable = Make();

}  // namespace serving
