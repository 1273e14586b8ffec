// Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020), behind a faster method that decides all
// but very few numbers. native/check.mjs checks both against std::to_chars.
#include "shortest.h"

#include <cstring>

#include "powers_of_ten.h"
#include "swar.h"

namespace serving {
namespace {

// The value digits × 10^exponent.
struct Decimal {
  uint64_t digits;
  int exponent;
};

// Returns floor(log10(2^q)); of 3/4 of 2^q when `narrow`, since the gap below a power of two is half as wide.
constexpr int FloorLog10Of2(int q, bool narrow) { return (q * 1262611 - (narrow ? 524031 : 0)) >> 22; }

// Returns the upper 64 bits of a product with a 128-bit power; the lowest bit is set when any bit below is lost ("round
// to odd"), which keeps all later comparisons right.
inline uint64_t Scale(const Wide& power, uint64_t factor) {
  Wide product = Multiply(power.high, factor);
  const uint64_t carry = Multiply(power.low, factor).high;
  product.low += carry;
  product.high += product.low < carry;
  return product.high | (product.low > 1);
}

// Returns the shortest decimal in the rounding interval of significand × 2^q, which is not zero; the closest one if
// there are several.
Decimal Shortest(uint64_t significand, int q, bool lower_is_closer) {
  const int k = FloorLog10Of2(q, lower_is_closer);
  const int shift = q + FloorLog2Of10(-k) + 1;
  const Wide& power = PowerOfTen(-k);
  // In units of a quarter: the value, and both ends of the interval that rounds to it.
  const uint64_t below = Scale(power, (4 * significand - 2 + lower_is_closer) << shift);
  const uint64_t value = Scale(power, (4 * significand) << shift);
  const uint64_t above = Scale(power, (4 * significand + 2) << shift);
  // Reading rounds ties to even: the interval of an even significand includes its ends.
  const uint64_t odd = significand & 1;
  const uint64_t min = below + odd;
  const uint64_t max = above - odd;

  const uint64_t whole = value / 4;
  if (whole >= 10) {
    // One digit fewer: the interval holds at most one multiple of ten.
    const uint64_t tens = whole / 10;
    const bool down = min <= 40 * tens;
    const bool up = 40 * tens + 40 <= max;
    if (down != up) return {tens + up, k + 1};
  }
  const bool down = min <= 4 * whole;
  const bool up = 4 * whole + 4 <= max;
  if (down != up) return {whole + up, k};
  const uint64_t middle = 4 * whole + 2;
  return {whole + (value > middle || (value == middle && (whole & 1) != 0)), k};
}

constexpr uint64_t kPowers[] = {1ull,
                                10ull,
                                100ull,
                                1000ull,
                                10000ull,
                                100000ull,
                                1000000ull,
                                10000000ull,
                                100000000ull,
                                1000000000ull,
                                10000000000ull,
                                100000000000ull,
                                1000000000000ull,
                                10000000000000ull,
                                100000000000000ull,
                                1000000000000000ull,
                                10000000000000000ull,
                                100000000000000000ull};

// Digits before layout: the value is 0.DIGITS × 10^point, with Format::kDigits digits in `leading` and one more in
// `last`. Trailing zeros are not significant.
struct Normal {
  uint64_t leading;
  uint64_t last;
  int point;
};

template <class Format>
SERVING_RARE Normal ShortestSurely(uint64_t significand, int q, bool lower_is_closer) {
  const Decimal decimal = Shortest(significand, q, lower_is_closer);
  int written = 1;
  while (written <= Format::kDigits && decimal.digits >= kPowers[written]) written++;
  const uint64_t all = decimal.digits * kPowers[Format::kDigits + 1 - written];
  return {all / 10, all % 10, written + decimal.exponent};
}

// Like Shortest, with one multiplication instead of three; returns false when that cannot decide.
//
// Scaled so that the interval that rounds to the value is less than 1 wide, the value is `tens` + `rest` / 2^64. The
// shortest decimal is the whole number in the interval if there is one, else the nearest tenth, since the interval is
// at least a tenth wide. `rest` and `half` (of the interval's width) may be off by a few units: the result is certain
// unless they are within kDoubt of each other.
template <class Format>
inline bool ShortestQuickly(uint64_t significand, int q, bool lower_may_be_closer, Normal& normal) {
  // Less than 2^53 and 2^24 units times the rounding of the power, and some for cut off bits.
  constexpr uint64_t kDoubt = Format::kFraction == 52 ? 64 : 1 << 28;
  const int exponent = FloorLog10Of2(q, false) + 1;
  const int shift = q + FloorLog2Of10(-exponent) + 4;
  const Wide& power = PowerOfTen(-exponent);
  const uint64_t factor = significand << shift;
  Wide product = Multiply(power.high, factor);
  if (Format::kFraction == 52) {
    const uint64_t carry = Multiply(power.low, factor).high;
    product.low += carry;
    product.high += product.low < carry;
  }
  uint64_t tens = product.high >> 3;
  const uint64_t rest = product.high << 61 | product.low >> 3;
  const uint64_t half = power.high >> (4 - shift);

  const uint64_t distance = rest < ~rest ? rest : ~rest;
  const uint64_t is_whole = distance < half;
  Wide tenths = Multiply(rest, 10);
  tenths.low += uint64_t{1} << 63;
  tenths.high += tenths.low >> 63 == 0;
  const bool doubtful = distance - half + kDoubt <= 2 * kDoubt || tenths.low + kDoubt <= 2 * kDoubt ||
                        (lower_may_be_closer & (distance + kDoubt >= half >> 1));
  if (doubtful) return false;

  // Branch-free: the number of digits is unpredictable, and compilers turn ?: into branches here.
  uint64_t last = tenths.high & (is_whole - 1);
  tens += (rest >> 63) & is_whole;
  int point = exponent + Format::kDigits;
  for (int i = 0; i < Format::kTensShorter; i++) {
    const uint64_t is_short = tens < kPowers[Format::kDigits - 1];
    tens += (9 * tens + last) & (0 - is_short);
    last &= is_short - 1;
    point -= static_cast<int>(is_short);
  }
  normal = {tens, last, point};
  return true;
}

// The first eight bytes of a text, by the position of its point: digits that stay, fixed characters, and digits that
// move up.
struct Prefix {
  uint64_t in_place;
  uint64_t fixed;
  int shift;
  // Where the digits after the fixed characters start, and the minimum number of characters from there on.
  int start;
  int min;
};

constexpr int kFirstPoint = -5;
constexpr int kLastPoint = 7;
struct Prefixes {
  Prefix prefixes[kLastPoint - kFirstPoint + 1];
};

constexpr Prefixes MakePrefixes() {
  Prefixes table{};
  for (int point = kFirstPoint; point <= kLastPoint; point++) {
    Prefix& prefix = table.prefixes[point - kFirstPoint];
    if (point <= 0) {
      prefix.start = 2 - point;
      prefix.fixed = (kAsciiZeros & ((uint64_t{1} << 8 * prefix.start) - 1)) - (uint64_t{'0' - '.'} << 8);
      prefix.min = 1;
    } else {
      prefix.start = 1;
      prefix.in_place = (uint64_t{1} << 8 * point) - 1;
      prefix.fixed = uint64_t{'.'} << 8 * point;
      prefix.min = point + 1;
    }
    prefix.shift = 8 * prefix.start;
  }
  return table;
}

constexpr Prefixes kPrefixes = MakePrefixes();

inline int Larger(int a, int b) { return a > b ? a : b; }

// Lays out numbers with an exponent, and long whole numbers.
SERVING_RARE char* LayoutRare(char* out, uint64_t first, uint64_t second, uint64_t third, int count, int point) {
  char digits[24];
  StoreEight(digits, first);
  StoreEight(digits + 8, second);
  StoreEight(digits + 16, third);
  if (point > 0 && point <= 21) {
    // Here there is no digit behind the point: of 17 digits at most, 16 are before it.
    std::memcpy(out, digits, 24);
    if (count <= point) {
      std::memcpy(out + point, ".0", 2);
      return out + point + 2;
    }
    out[point] = '.';
    std::memcpy(out + point + 1, digits + point, 2);
    return out + count + 1;
  }
  out[0] = digits[0];
  char* end = out + 1;
  if (count > 1) {
    *end = '.';
    std::memcpy(end + 1, digits + 1, 16);
    end += count;
  }
  const int power = point > 0 ? point - 1 : 1 - point;
  *end++ = 'e';
  *end++ = point > 0 ? '+' : '-';
  return WriteInteger(end, static_cast<uint64_t>(power));
}

// Lays out as JavaScript does: ECMA-262, Number::toString. May touch kFloatRoom bytes: words are stored whole, and no
// branch depends on the number of digits, which would be mispredicted. Digits stay in registers: storing them and
// copying them to their place would wait for the store buffer.
template <class Format>
inline char* Layout(char* out, const Normal& normal) {
  constexpr bool kLong = Format::kDigits > 8;
  const uint64_t upper = kLong ? normal.leading / 100000000 : normal.leading;
  const uint64_t upper_digits = SplitEight(upper);
  // The last byte of a split word is its last digit: zeros at the end are those of the word.
  constexpr uint64_t kSome = uint64_t{1} << 63;
  int count = 8 - (TrailingZeros(upper_digits | kSome) >> 3);
  const uint64_t first = SwapBytes(upper_digits) + kAsciiZeros;
  uint64_t second = kAsciiZeros;
  uint64_t third = kAsciiZeros;
  if (kLong) {
    const uint64_t lower_digits = SplitEight(normal.leading - upper * 100000000);
    count = lower_digits != 0 ? 16 - (TrailingZeros(lower_digits | kSome) >> 3) : count;
    second += SwapBytes(lower_digits);
  }
  (kLong ? third : second) += normal.last;
  count = normal.last != 0 ? Format::kDigits + 1 : count;

  const int point = normal.point;
  if (point >= kFirstPoint && point <= kLastPoint) {
    const Prefix& prefix = kPrefixes.prefixes[point - kFirstPoint];
    char* const start = out + prefix.start;
    StoreEight(start, first);
    StoreEight(start + 8, second);
    if (kLong) StoreEight(start + 16, third);
    StoreEight(out, (first & prefix.in_place) | prefix.fixed | (first & ~prefix.in_place) << prefix.shift);
    return start + Larger(count, prefix.min);
  }
  if (point > kLastPoint && point < 16) {
    const int fixed_bits = 8 * (point - 8);
    const uint64_t in_place = (uint64_t{1} << fixed_bits) - 1;
    StoreEight(out, first);
    StoreEight(out + 9, second);
    if (kLong) StoreEight(out + 17, third);
    StoreEight(out + 8, (second & in_place) | uint64_t{'.'} << fixed_bits | (second & ~in_place) << 8);
    return out + 1 + Larger(count, point + 1);
  }
  return LayoutRare(out, first, second, third, count, point);
}

}  // namespace

template <class Format>
char* WriteFloat(char* out, typename Format::Bits bits) {
  using Bits = typename Format::Bits;
  constexpr int kBias = (1 << (Format::kExponent - 1)) - 1 + Format::kFraction;
  constexpr Bits kHidden = static_cast<Bits>(Bits{1} << Format::kFraction);
  constexpr Bits kSign = static_cast<Bits>(kHidden << Format::kExponent);
  *out = '-';
  out += (bits & kSign) != 0;
  const Bits size = static_cast<Bits>(bits & ~kSign);
  const uint64_t fraction = size & (kHidden - 1);
  const int biased = static_cast<int>(size >> Format::kFraction);
  const uint64_t significand = fraction | kHidden;
  // Small whole numbers, and zero: a third of the time.
  const int places = kBias - biased;
  constexpr int kFewest = Format::kFraction > 26 ? Format::kFraction - 26 : 0;
  if ((static_cast<unsigned>(places - kFewest) <= static_cast<unsigned>(Format::kFraction - kFewest) &&
       (significand & ((uint64_t{1} << places) - 1)) == 0) ||
      size == 0) {
    out = WriteInteger(out, size == 0 ? 0 : significand >> places);
    std::memcpy(out, ".0", 2);
    return out + 2;
  }
  Normal normal;
  if (biased == 0) {
    normal = ShortestSurely<Format>(fraction, 1 - kBias, false);
  } else if (!ShortestQuickly<Format>(significand, biased - kBias, fraction == 0, normal)) {
    normal = ShortestSurely<Format>(significand, biased - kBias, fraction == 0 && biased > 1);
  }
  return Layout<Format>(out, normal);
}

template char* WriteFloat<Binary64>(char*, uint64_t);
template char* WriteFloat<Binary32>(char*, uint32_t);
template char* WriteFloat<Binary16>(char*, uint16_t);

char* WriteInteger(char* out, uint64_t value) {
  if (value < 10) {
    *out = static_cast<char>('0' + value);
    return out + 1;
  }
  if (value < 100000000) {
    const uint64_t digits = SplitEight(value);
    const int unused = LeadingZeros(digits) >> 3;
    StoreEight(out, SwapBytes(digits << 8 * unused) + kAsciiZeros);
    return out + 8 - unused;
  }
  const uint64_t upper = value / 100000000;
  out = WriteInteger(out, upper);
  StoreEight(out, SwapBytes(SplitEight(value - upper * 100000000)) + kAsciiZeros);
  return out + 8;
}

}  // namespace serving
