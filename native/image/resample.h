// Resizes 8-bit pixels row by row, with the same fixed-point arithmetic as Pillow's Image.resize, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../src/shared_numbers.h"

namespace serving {

// A zeroed array of numbers from malloc: `new` would abort the process when memory runs out, without exceptions.
template <typename T>
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { std::free(items_); }

  // Returns false when there is no memory.
  bool Allocate(size_t count) {
    std::free(items_);
    items_ = static_cast<T*>(std::calloc(count == 0 ? 1 : count, sizeof(T)));
    return items_ != nullptr;
  }
  T* get() { return items_; }
  const T* get() const { return items_; }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }

 private:
  T* items_ = nullptr;
};

// One axis of a resize: `extent` of the `input` pixels map to `full` output pixels, of which only `count` from `first`
// on are computed. `extent` is fractional when a JPEG was decoded at a fraction of its size.
struct Axis {
  uint32_t input;
  double extent;
  uint32_t full;
  uint32_t first;
  uint32_t count;
};

// A resize, the part of the output that is computed, and where that part lies.
struct ResamplePlan {
  Filter filter;
  Axis x;
  Axis y;
  // Channels of the input: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
  uint32_t input_channels;
  // Channels of the output: those of the input, or 1 (ITU-R 601-2 luma) or 3; alpha is dropped, not composited.
  uint32_t channels;
  // Size of the output, and the corner of the computed part in it. The rest of the output is left as it is.
  uint32_t width;
  uint32_t height;
  uint32_t left;
  uint32_t top;
  // A plane for each channel (CHW) instead of channels side by side (HWC).
  bool is_planar;
  // Whether the last channel is alpha, by which the others are weighted.
  bool has_alpha;
};

// The input pixels and fixed-point weights of each output pixel of an axis.
class Weights {
 public:
  // Returns false when there is no memory.
  bool Compute(const Axis& axis, Filter filter);
  uint32_t first(uint32_t i) const { return windows_[2 * i]; }
  uint32_t count(uint32_t i) const { return windows_[2 * i + 1]; }
  const int32_t* of(uint32_t i) const { return weights_.get() + size_t{i} * taps_; }
  // The largest number of weights of an output pixel.
  uint32_t taps() const { return taps_; }

 private:
  uint32_t taps_ = 0;
  Array<uint32_t> windows_;
  Array<int32_t> weights_;
};

// Takes the rows of the input from top to bottom and writes each row of the output as soon as its inputs are complete.
class Resampler {
 public:
  // Allocates the memory. `table` has one float for each of the 256 levels of each channel, and `out` is then floats;
  // without a table, `out` is bytes. Returns false when there is no memory.
  bool Prepare(const ResamplePlan& plan, const float* table, void* out);

  // Takes the next row. Never throws, allocates or jumps.
  void Push(const uint8_t* row);

 private:
  void Horizontal(const uint8_t* row, uint8_t* to) const;
  void Emit(uint32_t y);

  ResamplePlan plan_{};
  const float* table_ = nullptr;
  void* out_ = nullptr;
  Weights x_;
  Weights y_;
  uint32_t pushed_ = 0;
  uint32_t emitted_ = 0;
  // Channels while resizing; samples of a resized row.
  uint32_t channels_ = 0;
  size_t samples_ = 0;
  // A row in the channels of the output; the last `y_.taps()` rows resized in x; the sums and levels of one output row.
  Array<uint8_t> converted_;
  Array<uint8_t> ring_;
  Array<int32_t> sums_;
  Array<uint8_t> levels_;
};

}  // namespace serving
