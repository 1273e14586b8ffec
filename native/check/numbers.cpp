// Prints numbers and parses them back, compared with the standard library: every float16 and float32, and a given
// number of random doubles. Run by native/check.mjs.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../src/half.h"
#include "../src/ndarray_parse.h"
#include "../src/number_parse.h"
#include "../src/shortest.h"

namespace {

using serving::Binary16;
using serving::Binary32;
using serving::Binary64;

uint64_t failures = 0;

// Counts a failure and prints the first 20.
void Fail(const char* what, const std::string& expected, const std::string& found) {
  if (++failures <= 20) std::printf("%s: expected %s, got %s\n", what, expected.c_str(), found.c_str());
}

// Returns JavaScript's text (ECMA-262, Number::toString) of the standard library's digits; integral values get ".0".
std::string Expected(const char* scientific, const char* end) {
  std::string sign, digits;
  const char* p = scientific;
  if (*p == '-') sign = *p++;
  for (; p < end && *p != 'e'; p++) {
    if (*p != '.') digits += *p;
  }
  const int point = std::atoi(std::string(p + 1, end).c_str()) + 1;
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  const int count = static_cast<int>(digits.size());
  if (digits == "0") return sign + "0.0";
  if (point > 21 || point < -5) {
    const std::string power = (point > 0 ? "e+" : "e-") + std::to_string(std::abs(point - 1));
    return sign + digits[0] + (count > 1 ? "." + digits.substr(1) : "") + power;
  }
  if (point <= 0) return sign + "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  if (count <= point) return sign + digits + std::string(static_cast<size_t>(point - count), '0') + ".0";
  return sign + digits.substr(0, static_cast<size_t>(point)) + "." + digits.substr(static_cast<size_t>(point));
}

// Returns the text that the add-on writes for a float.
template <class Format, class Float>
std::string Print(Float value) {
  typename Format::Bits bits;
  static_assert(sizeof bits == sizeof value, "the bits of a float");
  std::memcpy(&bits, &value, sizeof bits);
  char text[serving::kFloatRoom];
  return std::string(text, serving::WriteFloat<Format>(text, bits));
}

// Compares the text of a float with that of std::to_chars.
template <class Format, class Float>
void CheckPrint(Float value) {
  char text[64];
  const char* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string expected = Expected(text, end);
  const std::string found = Print<Format>(value);
  if (found != expected) Fail("print", expected, found);
}

// Compares the double that a text is read as with that of std::from_chars.
void CheckRead(const std::string& text) {
  double expected = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), expected);
  // Out of range, from_chars leaves the value unchanged; the unit tests cover such texts.
  if (read.ec != std::errc()) return;
  // With and without 41 bytes behind the text: the scanner reads eight bytes at a time where it can.
  for (const size_t padding : {0, 40}) {
    const std::string padded = text + "," + std::string(padding, '1');
    const uint8_t* const start = reinterpret_cast<const uint8_t*>(padded.data());
    const uint8_t* const end = start + text.size() + (padding == 0 ? 0 : padding + 1);
    serving::NumberToken token;
    if (!serving::ScanNumber(start, end, token)) return Fail("scan", text, "no number");
    if (token.end != start + text.size()) return Fail("scan", text, "another end");
    const double found = serving::ToDouble(token);
    if (std::memcmp(&found, &expected, sizeof found) != 0) {
      return Fail("read", text, std::to_string(found));
    }
  }
}

// Checks that a double is printed right, and its text read right.
void CheckDouble(double value) {
  CheckPrint<Binary64>(value);
  CheckRead(Print<Binary64>(value));
}

double FromBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Checks lists of 40 numbers: in lists a faster parser reads plain numbers than for single ones.
void CheckLists(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  char text[64];
  for (uint64_t i = 0; i < count; i++) {
    std::vector<double> expected;
    std::string list = "[";
    for (uint64_t k = 0; k < 40; k++) {
      const uint64_t bits = random();
      double value;
      if (bits % 3 == 0) {
        std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(bits >> (20 + bits % 40)));
      } else if (bits % 3 == 1) {
        std::snprintf(text, sizeof text, "-%.*f", static_cast<int>(bits % 20),
                      static_cast<double>(bits >> 11) * 0x1p-53);
      } else {
        std::snprintf(text, sizeof text, "%.*e", static_cast<int>(bits % 18),
                      static_cast<double>(bits >> 11) * 0x1p-53);
      }
      std::from_chars(text, text + std::strlen(text), value);
      expected.push_back(value);
      list += k == 0 ? "" : bits % 5 == 0 ? ", " : bits % 11 == 0 ? " ,\n" : ",";
      list += text;
    }
    list += "]";
    std::vector<double> found(expected.size());
    serving::ParseResult result;
    const serving::Cast cast{serving::Dtype::kFloat64, false};
    const uint8_t* const json = reinterpret_cast<const uint8_t*>(list.data());
    serving::ParseNdarray(json, list.size(), cast, found.data(), found.size(), result);
    if (result.status != serving::Status::kOk || result.count != expected.size() ||
        std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)) != 0) {
      Fail("read list", list, "another");
    }
  }
}

// The standard library has no float16: expects the fewest digits that read back as the same value, the nearest to it.
void CheckHalves() {
  for (uint16_t bits = 1; bits < 0x7C00; bits++) {
    const int exponent = bits >> 10;
    const double fraction = bits & 0x3FF;
    const double value =
        exponent == 0 ? __builtin_ldexp(fraction, -24) : __builtin_ldexp(1024 + fraction, exponent - 25);
    std::string expected;
    for (int places = 0; expected.empty(); places++) {
      char text[64];
      std::snprintf(text, sizeof text, "%.*e", places, value);
      const double unit = std::strtod(("1" + std::string(std::strchr(text, 'e'))).c_str(), nullptr);
      // Also tries the next decimal above: above a power of two, numbers farther away read back as it than below.
      for (const int up : {0, 1}) {
        const double near = std::strtod(text, nullptr) + up * unit / __builtin_powi(10.0, places);
        if (!expected.empty() || serving::ToHalfBits(near) != bits) continue;
        std::snprintf(text, sizeof text, "%.*e", places, near);
        expected = Expected(text, text + std::strlen(text));
      }
    }
    char found[serving::kFloatRoom];
    const std::string text(found, serving::WriteFloat<Binary16>(found, bits));
    if (text != expected) Fail("print float16", expected, text);
  }
}

// Checks the text of every `step`-th float32.
void CheckSingles(uint64_t step) {
  for (uint64_t bits = 0; bits < 0x7F800000u; bits += step) {
    float value;
    const uint32_t word = static_cast<uint32_t>(bits);
    std::memcpy(&value, &word, sizeof value);
    CheckPrint<Binary32>(value);
    if (bits % 4096 == 0) CheckPrint<Binary32>(-value);
  }
}

// Checks doubles beside powers of two, beside midpoints that are hard to round, and `count` random ones.
void CheckDoubles(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool is_quick = count < 1000000;
  const uint64_t steps = is_quick ? 5 : 200;
  for (int exponent = 0; exponent < 2047; exponent++) {
    const uint64_t power = static_cast<uint64_t>(exponent) << 52;
    for (uint64_t step = 0; step < steps; step++) {
      CheckDouble(FromBits(power + step));
      if (power + step != 0 && exponent > 0) CheckDouble(FromBits(power - step));
      CheckDouble(FromBits(power | (uint64_t{1} << (step % 52))));
    }
  }
  // Doubles on both sides of midpoints that are multiples of high powers of ten.
  uint64_t five = 1;
  for (int k = 1; k <= 23; k++) {
    five *= 5;
    for (int i = 0; i < (is_quick ? 2 : 100); i++) {
      uint64_t odd = (random() >> 11 >> (random() % 20)) / five * five;
      if ((odd & 1) == 0) odd += five;
      for (; odd < uint64_t{1} << 53; odd *= 3) continue;
      if (odd >= uint64_t{1} << 54) continue;
      for (int shift = -100; shift < 100; shift++) {
        const double at = __builtin_ldexp(static_cast<double>(odd / 2), shift);
        CheckDouble(at);
        CheckDouble(__builtin_ldexp(static_cast<double>(odd / 2 + 1), shift));
      }
    }
  }
  char text[64];
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t bits = random();
    const double any = FromBits(bits);
    if (any - any == 0) CheckDouble(any);
    CheckDouble(FromBits(bits >> 12));
    CheckDouble(static_cast<double>(bits >> 11) * 0x1p-53);
    CheckDouble(static_cast<double>(bits >> (11 + bits % 48)));
    const int places = static_cast<int>(bits % 8);
    const int64_t units = static_cast<int64_t>(random() >> (30 + random() % 34));
    CheckDouble(static_cast<double>(units) / __builtin_powi(10.0, places));
    std::snprintf(text, sizeof text, "%lld.%0*llu", static_cast<long long>(units % 100000),
                  1 + static_cast<int>(bits % 20), static_cast<unsigned long long>(random() >> (bits % 64)));
    CheckRead(text);
    std::snprintf(text, sizeof text, "%llue%d", static_cast<unsigned long long>(bits),
                  static_cast<int>(random() % 600) - 310);
    CheckRead(text);
    // Near and at the midpoint of two doubles.
    std::snprintf(text, sizeof text, "%llu.%d", static_cast<unsigned long long>((bits >> 10) | 1),
                  static_cast<int>(bits % 3) * 5);
    CheckRead(text);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  CheckDoubles(count, seed);
  CheckLists(count / 10, seed);
  CheckHalves();
  CheckSingles(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  std::printf("%llu failures\n", static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}
