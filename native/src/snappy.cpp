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

uint8_t* WriteLiteral(uint8_t* out, const uint8_t* from, size_t size) {
  if (size == 0) return out;
  const size_t last = size - 1;
  *out++ = static_cast<uint8_t>(std::min<size_t>(last, last < 256 ? 60 : 61) << 2);
  if (last >= 60) *out++ = static_cast<uint8_t>(last);
  if (last >= 256) *out++ = static_cast<uint8_t>(last >> 8);
  std::memcpy(out, from, size);
  return out + size;
}

// Writes a copy of four bytes or more, in pieces of which none is shorter.
uint8_t* WriteCopy(uint8_t* out, size_t back, size_t size) {
  while (size > 0) {
    const size_t piece = size >= 68 ? 64 : std::min<size_t>(size, size > 64 ? 60 : 64);
    const bool is_near = piece < 12 && back < 2048;
    *out++ = static_cast<uint8_t>(is_near ? 1 | (piece - 4) << 2 | back >> 8 << 5 : 2 | (piece - 1) << 2);
    *out++ = static_cast<uint8_t>(back);
    if (!is_near) *out++ = static_cast<uint8_t>(back >> 8);
    size -= piece;
  }
  return out;
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
  while (bits < kMaxTableBits && size_t{1} << bits < size) bits++;
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
    out = WriteLiteral(out, data + literal, at - literal);
    out = WriteCopy(out, at - known, same);
    literal = at += same;
    misses = 32;
  }
  return WriteLiteral(out, data + literal, size - literal);
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
      // Short ones by one move of 16 bytes, where both sides have them.
      if (count <= 16 && static_cast<size_t>(end - data) >= 16 && size - at >= 16) {
        std::memcpy(out + at, data, 16);
      } else {
        std::memcpy(out + at, data, count);
      }
      data += count;
      at += count;
      continue;
    }
    // A copy of what is `back` bytes before.
    const size_t offset_bytes = (tag & 3) == 3 ? 4 : tag & 3;
    if (offset_bytes > static_cast<size_t>(end - data)) return false;
    size_t back = 0;
    for (size_t i = 0; i < offset_bytes; i++) back |= static_cast<size_t>(*data++) << (8 * i);
    if ((tag & 3) == 1) {
      back |= static_cast<size_t>(tag >> 5) << 8;
      count = ((tag >> 2) & 7) + 3;
    }
    count++;
    if (back == 0 || back > at || count > size - at) return false;
    if (back >= 16 && count <= 16 && size - at >= 16) {
      std::memcpy(out + at, out + at - back, 16);
    } else if (back >= count) {
      std::memcpy(out + at, out + at - back, count);
    } else {
      // It repeats what it writes.
      for (size_t i = 0; i < count; i++) out[at + i] = out[at + i - back];
    }
    at += count;
  }
  return at == size;
}

}  // namespace serving
