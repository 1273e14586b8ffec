#include "snappy.h"

#include <cstring>

namespace serving {

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
