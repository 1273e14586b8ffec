// JPEG bytes to pixels and back. Every failure is a text, never an exit or an exception.
#pragma once

#include <cstddef>
#include <cstdint>

namespace serving {

// Room for a text that says what failed; empty when nothing did.
constexpr size_t kFailureLength = 256;

// Rows from top to bottom without gaps; 1 channel is grey, 3 are RGB.
struct Picture {
  // Of a picture to be encoded.
  const uint8_t* pixels;
  uint32_t width;
  uint32_t height;
  uint32_t channels;
  // Work ends at the next row once this byte, which another thread may write, is not 0.
  const volatile uint8_t* stop;
};

// What a call allocates, whether it fails or not; to be freed with std::free.
struct Output {
  uint8_t* data;
  size_t length;
};

// Pixels. Fails for bytes whose frame header says anything else than the picture does, and for bytes that end early.
void DecodeJpeg(const uint8_t* bytes, size_t length, const Picture& picture, Output& out, char* failure);

// Halved colour and the tables of T.81 annex K: what the library does unless told otherwise, and Pillow as well.
void EncodeJpeg(const Picture& picture, int quality, Output& out, char* failure);

// The library that this was compiled against, with its version.
const char* JpegLibrary();

}  // namespace serving
