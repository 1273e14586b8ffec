// Eight digits at a time in one 64-bit word.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace serving {

// SERVING_INLINE: inlined into hot loops. SERVING_APART: never inlined. SERVING_RARE: never inlined, and kept apart
// from the code that runs often.
#if defined(_MSC_VER)
#define SERVING_INLINE __forceinline
#define SERVING_APART __declspec(noinline)
#define SERVING_RARE SERVING_APART
#else
#define SERVING_INLINE inline __attribute__((always_inline))
#define SERVING_APART __attribute__((noinline))
#define SERVING_RARE __attribute__((noinline, cold))
#endif

constexpr uint64_t kAsciiZeros = 0x3030303030303030u;

inline uint64_t SwapBytes(uint64_t word) {
#if defined(_MSC_VER)
  return _byteswap_uint64(word);
#else
  return __builtin_bswap64(word);
#endif
}

// The first byte of the text is the lowest byte of the word on every machine.
inline uint64_t LoadEight(const void* from) {
  uint64_t word;
  std::memcpy(&word, from, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = SwapBytes(word);
#endif
  return word;
}

inline void StoreEight(void* to, uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = SwapBytes(word);
#endif
  std::memcpy(to, &word, 8);
}

constexpr uint64_t kOnes = 0x0101010101010101u;
constexpr uint64_t kHighBits = kOnes << 7;

// Returns the high bit of each byte of the word that equals `byte`; bits above the lowest one may be wrong.
constexpr uint64_t BytesEqual(uint64_t word, uint8_t byte) {
  const uint64_t zeros = word ^ kOnes * byte;
  return (zeros - kOnes) & ~zeros & kHighBits;
}

// Undefined for 0.
inline int TrailingZeros(uint64_t word) {
#if defined(_MSC_VER)
  unsigned long at;
  _BitScanForward64(&at, word);
  return static_cast<int>(at);
#else
  return __builtin_ctzll(word);
#endif
}

// Undefined for 0.
inline int LeadingZeros(uint64_t word) {
#if defined(_MSC_VER)
  unsigned long at;
  _BitScanReverse64(&at, word);
  return 63 - static_cast<int>(at);
#else
  return __builtin_clzll(word);
#endif
}

// Splits a number below 10^8 into its eight digits, one byte each, the last one in the lowest byte: fours, pairs,
// singles. Divides by multiplication, which is exact for every possible operand (all were tried).
inline uint64_t SplitEight(uint64_t value) {
  const uint64_t fours = value + (value * 109951163 >> 40) * ((uint64_t{1} << 32) - 10000);
  const uint64_t pairs = fours + ((fours * 10486 >> 20) & 0x0000007F0000007Fu) * ((1 << 16) - 100);
  return pairs + ((pairs * 103 >> 10) & 0x000F000F000F000Fu) * ((1 << 8) - 10);
}

// Returns the number of eight digits, one byte each, the first one in the lowest byte.
inline uint64_t JoinEight(uint64_t digits) {
  const uint64_t pairs = digits * 10 + (digits >> 8);
  return ((pairs & 0x000000FF000000FFu) * 0x000F424000000064u +
          ((pairs >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
         32;
}

}  // namespace serving
