// Snappy. Source: google/snappy, "format_description.txt".
#pragma once

#include <cstddef>
#include <cstdint>

namespace serving {

// Bytes behind the unpacked ones that are overwritten.
constexpr size_t kSnappyRoom = 16;

// Unpacks data to exactly `size` bytes; `out` has kSnappyRoom more. Returns false when the data is not Snappy or has
// another length; the contents of `out` are then undefined.
bool UnpackSnappy(const uint8_t* data, size_t length, uint8_t* out, size_t size);

// Returns the most bytes that StartSnappy and PackSnappy make of `size` bytes, and overwrite behind these.
constexpr size_t SnappyBound(size_t size) { return size + size / 32 + 32; }

// Writes the number of bytes that will be packed. Returns the end.
uint8_t* StartSnappy(uint8_t* out, size_t size);

// Packs bytes behind those packed before. Returns the end.
uint8_t* PackSnappy(uint8_t* out, const uint8_t* data, size_t size);

}  // namespace serving
