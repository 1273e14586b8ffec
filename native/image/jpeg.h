// Decodes and encodes JPEG. Every failure is reported as a text, never by an exit or an exception.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "resample.h"

namespace serving {

// Length of the buffer for the text of a failure; the text is empty on success.
constexpr size_t kFailureLength = 256;

// A byte that another thread sets to a value other than 0 to stop the work.
using StopFlag = std::atomic<uint8_t>;
static_assert(sizeof(StopFlag) == 1 && StopFlag::is_always_lock_free, "JavaScript writes it with Atomics.store");

// Size and channels of a picture: 1 channel is grey, 3 are RGB, 4 the inks CMYK, which are only decoded. Pixels are
// rows from top to bottom without gaps.
struct Picture {
  uint32_t width;
  uint32_t height;
  uint32_t channels;
};

// Where decoded rows go: all of them to `pixels`, or one after the other through `row` to `resampler`.
struct RowTarget {
  uint8_t* pixels;
  uint8_t* row;
  Resampler* resampler;
};

// Encoded bytes, which the caller frees with std::free whether the call failed or not.
struct Output {
  uint8_t* data;
  size_t length;
};

// Returns the side of a picture that is decoded at 1/denominator of its size.
constexpr uint32_t ScaledSide(uint32_t side, uint32_t denominator) { return (side + denominator - 1) / denominator; }

// Decodes at 1/denominator of the size, which is 1, 2, 4 or 8. Fails when the frame header contradicts `picture`, and
// when the bytes end early.
void DecodeJpeg(const uint8_t* bytes, size_t length, const Picture& picture, uint32_t denominator,
                const RowTarget& target, const StopFlag& stop, char* failure);

// Encodes with colour at half the resolution and the tables of T.81 annex K, the defaults of the library and of Pillow.
void EncodeJpeg(const uint8_t* pixels, const Picture& picture, int quality, Output& out, const StopFlag& stop,
                char* failure);

// Returns the name and version of the library that this was compiled against.
const char* JpegLibrary();

}  // namespace serving
