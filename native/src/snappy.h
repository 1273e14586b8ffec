// Snappy. Source: google/snappy, "format_description.txt".
#pragma once

#include <cstddef>
#include <cstdint>

namespace serving {

// Unpacks data to exactly `size` bytes. Returns false when the data is not Snappy or has another length; the contents
// of `out` are then undefined.
bool UnpackSnappy(const uint8_t* data, size_t length, uint8_t* out, size_t size);

}  // namespace serving
