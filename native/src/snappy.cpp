#include "snappy.h"

#include <algorithm>
#include <cstring>

#include "swar.h"

namespace serving {
namespace {

// Bytes that are packed at a time: copies then go back less than 2^16 bytes.
constexpr size_t kBlock = 1 << 16;
constexpr unsigned kMaxTableBits = 13;

uint32_t LoadFour(const uint8_t* at) {
  uint32_t word;
  std::memcpy(&word, at, 4);
  return word;
}

// Texts of at most this many bytes are copied by one move.
constexpr size_t kMove = 16;

// Writes the next `size` of the `left` bytes from `from` on.
uint8_t* WriteLiteral(uint8_t* out, const uint8_t* from, size_t size, size_t left) {
  if (size == 0) return out;
  const size_t last = size - 1;
  if (size <= kMove && left >= kMove) {
    *out++ = static_cast<uint8_t>(last << 2);
    std::memcpy(out, from, kMove);
    return out + size;
  }
  *out++ = static_cast<uint8_t>(std::min<size_t>(last, last < 256 ? 60 : 61) << 2);
  if (last >= 60) *out++ = static_cast<uint8_t>(last);
  if (last >= 256) *out++ = static_cast<uint8_t>(last >> 8);
  std::memcpy(out, from, size);
  return out + size;
}

// Writes a copy of 4 to 64 bytes, without a branch: neither its distance nor its length can be foretold.
uint8_t* WritePiece(uint8_t* out, size_t back, size_t size) {
  const bool is_near = size < 12 && back < 2048;
  const size_t near = 1 | (size - 4) << 2 | back >> 8 << 5 | (back & 0xff) << 8;
  const size_t far = 2 | (size - 1) << 2 | back << 8;
  StoreEight(out, is_near ? near : far);
  return out + (is_near ? 2 : 3);
}

// Writes a copy of four bytes or more, in pieces of which none is shorter.
uint8_t* WriteCopy(uint8_t* out, size_t back, size_t size) {
  for (; size >= 68; size -= 64) out = WritePiece(out, back, 64);
  if (size > 64) {
    out = WritePiece(out, back, 60);
    size -= 60;
  }
  return WritePiece(out, back, size);
}

// Returns how many bytes are the same from both on, before `end`.
size_t SameBytes(const uint8_t* one, const uint8_t* other, const uint8_t* end) {
  const uint8_t* const start = other;
  for (; end - other >= 8; one += 8, other += 8) {
    const uint64_t differ = LoadEight(one) ^ LoadEight(other);
    if (differ != 0) return static_cast<size_t>(other - start) + static_cast<size_t>(TrailingZeros(differ) / 8);
  }
  while (other < end && *one == *other) one++, other++;
  return static_cast<size_t>(other - start);
}

uint8_t* PackBlock(uint8_t* out, const uint8_t* data, size_t size) {
  // Places where four bytes of a hash were last.
  uint16_t places[1 << kMaxTableBits];
  unsigned bits = 8;
  // A place for two bytes: clearing and missing a larger table takes longer than it saves.
  while (bits < kMaxTableBits && size_t{2} << bits < size) bits++;
  std::memset(places, 0, sizeof(uint16_t) << bits);
  size_t literal = 0;
  // Steps grow by one with 32 misses.
  size_t misses = 32;
  for (size_t at = 0; at + 4 <= size;) {
    const uint32_t word = LoadFour(data + at);
    uint16_t& place = places[word * 0x1e35a7bdu >> (32 - bits)];
    const size_t known = place;
    place = static_cast<uint16_t>(at);
    if (known >= at || LoadFour(data + known) != word) {
      at += misses++ / 32;
      continue;
    }
    const size_t same = 4 + SameBytes(data + known + 4, data + at + 4, data + size);
    out = WriteLiteral(out, data + literal, at - literal, size - literal);
    out = WriteCopy(out, at - known, same);
    literal = at += same;
    misses = 32;
  }
  return WriteLiteral(out, data + literal, size - literal, size - literal);
}

}  // namespace

uint8_t* StartSnappy(uint8_t* out, size_t size) {
  for (; size > 0x7f; size >>= 7) *out++ = static_cast<uint8_t>(size | 0x80);
  *out++ = static_cast<uint8_t>(size);
  return out;
}

uint8_t* PackSnappy(uint8_t* out, const uint8_t* data, size_t size) {
  for (size_t at = 0; at < size; at += kBlock) out = PackBlock(out, data + at, std::min(kBlock, size - at));
  return out;
}

// Copies bytes of a pattern that is shorter than they are, in moves of eight bytes, the last of which may go beyond.
static void Repeat(uint8_t* to, size_t back, size_t count) {
  const uint8_t* from = to - back;
  uint8_t* const end = to + count;
  // Each move of less than a whole pattern makes it twice as long.
  while (to - from < 8 && to < end) {
    const std::ptrdiff_t whole = to - from;
    StoreEight(to, LoadEight(from));
    to += whole;
  }
  for (; to < end; to += 8, from += 8) StoreEight(to, LoadEight(from));
}

// By the kind of a copy: how many bytes of its distance follow the tag, and which bits these are.
static constexpr uint8_t kOffsetBytes[] = {0, 1, 2, 4};
static constexpr uint32_t kOffsetMasks[] = {0, 0xff, 0xffff, 0xffffffff};

static uint32_t LoadRest(const uint8_t* at, size_t count) {
  uint32_t word = 0;
  for (size_t i = 0; i < count; i++) word |= static_cast<uint32_t>(at[i]) << (8 * i);
  return word;
}

bool UnpackSnappy(const uint8_t* data, size_t length, uint8_t* out, size_t size) {
  const uint8_t* const end = data + length;
  uint64_t stated = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (data == end || shift > 28) return false;
    const uint8_t byte = *data++;
    stated |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (stated != size) return false;
  size_t at = 0;
  while (data != end) {
    const uint8_t tag = *data++;
    size_t count = tag >> 2;
    if ((tag & 3) == 0) {
      // A literal; above 60 bytes its length follows in one to four bytes.
      if (count >= 60) {
        const size_t extra = count - 59;
        if (extra > static_cast<size_t>(end - data)) return false;
        count = 0;
        for (size_t i = 0; i < extra; i++) count |= static_cast<size_t>(*data++) << (8 * i);
      }
      count++;
      if (count > static_cast<size_t>(end - data) || count > size - at) return false;
      if (count <= 16 && static_cast<size_t>(end - data) >= 16) {
        std::memcpy(out + at, data, 16);
      } else {
        std::memcpy(out + at, data, count);
      }
      data += count;
      at += count;
      continue;
    }
    // A copy of what is `back` bytes before, without a branch on its kind, which cannot be foretold.
    const size_t kind = tag & 3;
    const size_t offset_bytes = kOffsetBytes[kind];
    const size_t left = static_cast<size_t>(end - data);
    if (offset_bytes > left) return false;
    size_t back = left >= 4 ? LoadFour(data) : LoadRest(data, left);
    back &= kOffsetMasks[kind];
    data += offset_bytes;
    const bool is_near = kind == 1;
    back |= is_near ? static_cast<size_t>(tag >> 5) << 8 : 0;
    count = is_near ? (count & 7) + 3 : count;
    count++;
    if (back == 0 || back > at || count > size - at) return false;
    if (back >= 16 && count <= 16) {
      std::memcpy(out + at, out + at - back, 16);
    } else if (back >= count) {
      std::memcpy(out + at, out + at - back, count);
    } else {
      Repeat(out + at, back, count);
    }
    at += count;
  }
  return at == size;
}

}  // namespace serving
