#include "json_scan.h"

#include <bitset>
#include <cstring>
// native/check.mjs disables SSE2 to test the plain code.
#if defined(__SSE2__) && !defined(SERVING_WITHOUT_SSE2)
#define SERVING_SSE2
#include <emmintrin.h>
#endif

#include "swar.h"

namespace serving {
namespace {

// Bytes at a time, as in simdjson's first stage: bit i of a word tells of byte i.
constexpr int kBlock = 64;

inline size_t Count(uint64_t bits) { return std::bitset<kBlock>(bits).count(); }

// Returns where the bytes of a block, with the bits of `fold` set, are from `first` to `last`.
SERVING_INLINE uint64_t Where(const uint8_t* block, uint8_t first, uint8_t last, uint8_t fold = 0) {
  uint64_t bits = 0;
#if defined(SERVING_SSE2)
  const auto all = [](int byte) { return _mm_set1_epi8(static_cast<char>(byte)); };
  for (int i = 0; i < kBlock; i += 16) {
    const __m128i bytes = _mm_or_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i)), all(fold));
    const __m128i above = _mm_subs_epu8(_mm_sub_epi8(bytes, all(first)), all(last - first));
    const int is = _mm_movemask_epi8(_mm_cmpeq_epi8(above, _mm_setzero_si128()));
    bits |= static_cast<uint64_t>(is) << i;
  }
#else
  uint8_t is[kBlock];
  for (int i = 0; i < kBlock; i++) is[i] = static_cast<uint8_t>((block[i] | fold) - first) <= last - first;
  // The product has the lowest bits of eight bytes in its highest byte.
  for (int i = 0; i < kBlock; i += 8) bits |= (LoadEight(is + i) * 0x0102040810204080u >> 56) << i;
#endif
  return bits;
}

// The bits of a kind of bytes in this block and in the one before.
struct Bits {
  uint64_t now = 0;
  uint64_t before = 0;

  void Next(uint64_t bits) {
    before = now;
    now = bits;
  }
  // Returns the bits of the bytes `count` places before, for a count from 1 to 63.
  uint64_t Earlier(int count) const { return now << count | before >> (kBlock - count); }
};

}  // namespace

JsonMeasure MeasureJson(const uint8_t* json, size_t length) {
  JsonMeasure found{SIZE_MAX, 0, 0, false};
  size_t outer_commas[kMaxJsonDepth];
  size_t depth = 0;
  size_t commas = 0;
  uint64_t is_escaped = 0;
  uint64_t is_in_string = 0;
  Bits numeric;
  Bits starts;
  Bits runs[4];
  uint8_t rest[kBlock];
  for (size_t at = 0; at < length; at += kBlock) {
    const uint8_t* block = json + at;
    if (length - at < kBlock) {
      std::memset(rest, ' ', kBlock);
      std::memcpy(rest, block, length - at);
      block = rest;
    }
    uint64_t escaped = is_escaped;
    is_escaped = 0;
    for (uint64_t left = Where(block, '\\', '\\') & ~escaped; left != 0;) {
      const uint64_t backslash = left & (0 - left);
      escaped |= backslash << 1;
      is_escaped = backslash >> (kBlock - 1);
      left &= ~(backslash | backslash << 1);
    }
    // Each bit becomes the sum of those up to it: odd from an opening quote on, until the closing one.
    uint64_t inside = Where(block, '"', '"') & ~escaped;
    for (int count = 1; count < kBlock; count *= 2) inside ^= inside << count;
    inside ^= is_in_string;
    is_in_string = 0 - (inside >> (kBlock - 1));
    const auto where = [&](uint8_t first, uint8_t last, uint8_t fold = 0) {
      return inside == UINT64_MAX ? 0 : Where(block, first, last, fold) & ~inside;
    };

    const uint64_t digits = where('0', '9') | where('-', '-');
    const uint64_t letters = where('e', 'e', 0x20);
    numeric.Next(digits | letters | where('.', '.'));
    starts.Next(digits & ~numeric.Earlier(1));
    uint64_t run = digits;
    for (int i = 0; i < 4; i++) {
      runs[i].Next(run);
      run &= runs[i].Earlier(1 << i);
    }
    found.may_hold_big_numbers |= (run & starts.Earlier(15)) != 0;
    // The e of true and false follows a letter; a negative exponent makes no number large.
    for (uint64_t left = letters & numeric.Earlier(1); left != 0; left &= left - 1) {
      const size_t next = at + TrailingZeros(left) + 1;
      found.may_hold_big_numbers |= next >= length || json[next] != '-';
    }

    uint64_t separators = where(',', ',');
    const uint64_t opening = where('{', '{', 0x20);
    found.values += Count(separators | opening);
    for (uint64_t left = opening | where('}', '}', 0x20); left != 0; left &= left - 1) {
      const int place = TrailingZeros(left);
      const uint64_t earlier = (uint64_t{1} << place) - 1;
      commas += Count(separators & earlier);
      separators &= ~earlier;
      if ((opening >> place & 1) != 0) {
        if (depth == kMaxJsonDepth) {
          found.deep_at = at + place;
          return found;
        }
        outer_commas[depth++] = commas;
        commas = 0;
      } else {
        if (block[place] == '}' && commas >= found.widest) found.widest = commas + 1;
        if (depth > 0) commas = outer_commas[--depth];
      }
    }
    commas += Count(separators);
  }
  return found;
}

}  // namespace serving
