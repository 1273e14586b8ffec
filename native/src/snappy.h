// Snappy. Source: google/snappy, "format_description.txt".
#pragma once

#include <cstddef>
#include <cstdint>

namespace serving {

// Unpacks data to exactly `size` bytes. False: the data is no Snappy, or of another length; `out` is then undefined.
bool UnpackSnappy(const uint8_t* data, size_t length, uint8_t* out, size_t size);

}  // namespace serving
