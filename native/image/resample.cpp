#include "resample.h"

#include <cmath>
#include <cstring>

namespace serving {
namespace {

// Weights have 22 fractional bits: of 32 bits, 8 are for the sample and 2 for the overshoot of negative lobes.
constexpr int kPlaces = 22;
constexpr int32_t kHalf = 1 << (kPlaces - 1);

// Returns sin(πx) / πx.
double Sinc(double x) {
  if (x == 0) return 1;
  const double angle = x * 3.14159265358979323846;
  return std::sin(angle) / angle;
}

// Half the width of each filter at scale 1. **Units**: input pixels.
constexpr double kSupports[] = {1, 2, 3};

// Returns the weight of a filter at the distance `x` from its centre.
double ValueOf(Filter filter, double x) {
  x = std::fabs(x);
  switch (filter) {
    case Filter::kBilinear:
      return x < 1 ? 1 - x : 0;
    case Filter::kBicubic: {
      // Keys' cubic convolution with a = -0.5.
      constexpr double a = -0.5;
      if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
    }
    default:
      return x < 3 ? Sinc(x) * Sinc(x / 3) : 0;
  }
}

// Returns a sum of weighted samples as a byte.
uint8_t Clip(int32_t sum) {
  const int32_t level = sum >> kPlaces;
  return static_cast<uint8_t>(level < 0 ? 0 : level > 255 ? 255 : level);
}

// Returns c * a / 255, rounded.
uint8_t Scaled(uint32_t c, uint32_t a) {
  const uint32_t product = c * a + 128;
  return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

// Returns the ITU-R 601-2 luma of a colour, rounded as in Pillow.
uint8_t Luma(const uint8_t* rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

// Converts a row to the channels of the output: grey to equal colours, colours to luma, alpha dropped.
void Convert(const uint8_t* from, uint32_t from_channels, uint8_t* to, uint32_t to_channels, uint32_t width) {
  for (uint32_t i = 0; i < width; i++, from += from_channels, to += to_channels) {
    if (from_channels <= 2) {
      for (uint32_t c = 0; c < to_channels; c++) to[c] = from[0];
    } else if (to_channels == 1) {
      to[0] = Luma(from);
    } else {
      std::memcpy(to, from, 3);
    }
  }
}

// Multiplies the colours of a row by its alpha, which is the last channel.
void Premultiply(const uint8_t* from, uint8_t* to, uint32_t channels, uint32_t width) {
  for (uint32_t i = 0; i < width; i++, from += channels, to += channels) {
    const uint8_t alpha = from[channels - 1];
    for (uint32_t c = 0; c + 1 < channels; c++) to[c] = Scaled(from[c], alpha);
    to[channels - 1] = alpha;
  }
}

// Divides the colours of a row by its alpha, in place; where alpha is 0 or 255 they stay.
void Unpremultiply(uint8_t* pixels, uint32_t channels, size_t width) {
  for (size_t i = 0; i < width; i++, pixels += channels) {
    const uint32_t alpha = pixels[channels - 1];
    if (alpha == 0 || alpha == 255) continue;
    for (uint32_t c = 0; c + 1 < channels; c++) {
      const uint32_t level = 255u * pixels[c] / alpha;
      pixels[c] = static_cast<uint8_t>(level > 255 ? 255 : level);
    }
  }
}

// Resizes a row of N channels to `width` pixels.
template <uint32_t N>
void Sum(const uint8_t* row, const Weights& weights, uint32_t width, uint8_t* to) {
  for (uint32_t x = 0; x < width; x++, to += N) {
    const uint8_t* from = row + size_t{weights.first(x)} * N;
    const int32_t* const weight = weights.of(x);
    const uint32_t count = weights.count(x);
    int32_t sums[N];
    for (uint32_t c = 0; c < N; c++) sums[c] = kHalf;
    for (uint32_t t = 0; t < count; t++, from += N) {
      for (uint32_t c = 0; c < N; c++) sums[c] += from[c] * weight[t];
    }
    for (uint32_t c = 0; c < N; c++) to[c] = Clip(sums[c]);
  }
}

}  // namespace

bool Weights::Compute(const Axis& axis, Filter filter) {
  const double scale = axis.extent / axis.full;
  const double spread = scale < 1 ? 1 : scale;
  const double support = kSupports[static_cast<int>(filter)] * spread;
  const double max_taps = std::ceil(support) * 2 + 1;
  taps_ = max_taps < axis.input ? static_cast<uint32_t>(max_taps) : axis.input;
  Array<double> exact;
  if (!exact.Allocate(taps_) || !windows_.Allocate(size_t{2} * axis.count) ||
      !weights_.Allocate(size_t{axis.count} * taps_)) {
    return false;
  }
  for (uint32_t i = 0; i < axis.count; i++) {
    const double center = (axis.first + i + 0.5) * scale;
    const double low = center - support + 0.5;
    const double high = center + support + 0.5;
    const uint32_t end = high < axis.input ? static_cast<uint32_t>(high) : axis.input;
    const uint32_t start = low <= 0 ? 0 : static_cast<uint32_t>(low);
    uint32_t count = end - start;
    if (count > taps_) count = taps_;
    double total = 0;
    for (uint32_t t = 0; t < count; t++) {
      exact[t] = ValueOf(filter, (t + start - center + 0.5) / spread);
      total += exact[t];
    }
    int32_t* const to = weights_.get() + size_t{i} * taps_;
    for (uint32_t t = 0; t < count; t++) {
      const double weight = (total == 0 ? exact[t] : exact[t] / total) * (1 << kPlaces);
      to[t] = static_cast<int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    windows_[2 * i] = start;
    windows_[2 * i + 1] = count;
  }
  return true;
}

bool Resampler::Prepare(const ResamplePlan& plan, const float* table, void* out) {
  plan_ = plan;
  table_ = table;
  out_ = out;
  channels_ = plan.channels;
  samples_ = size_t{plan.x.count} * channels_;
  return x_.Compute(plan.x, plan.filter) && y_.Compute(plan.y, plan.filter) &&
         converted_.Allocate(size_t{plan.x.input} * channels_) && ring_.Allocate(y_.taps() * samples_) &&
         sums_.Allocate(samples_) && levels_.Allocate(samples_);
}

void Resampler::Push(const uint8_t* row) {
  const uint32_t at = pushed_++;
  const uint32_t rows = plan_.y.count;
  // Skips rows above or below the part that is computed.
  if (emitted_ == rows || at < y_.first(0)) return;
  if (plan_.has_alpha) {
    Premultiply(row, converted_.get(), channels_, plan_.x.input);
    row = converted_.get();
  } else if (plan_.input_channels != channels_) {
    Convert(row, plan_.input_channels, converted_.get(), channels_, plan_.x.input);
    row = converted_.get();
  }
  Horizontal(row, ring_.get() + (at % y_.taps()) * samples_);
  while (emitted_ < rows && y_.first(emitted_) + y_.count(emitted_) == at + 1) Emit(emitted_++);
}

void Resampler::Horizontal(const uint8_t* row, uint8_t* to) const {
  switch (channels_) {
    case 1:
      return Sum<1>(row, x_, plan_.x.count, to);
    case 2:
      return Sum<2>(row, x_, plan_.x.count, to);
    case 3:
      return Sum<3>(row, x_, plan_.x.count, to);
    default:
      return Sum<4>(row, x_, plan_.x.count, to);
  }
}

void Resampler::Emit(uint32_t y) {
  int32_t* const sums = sums_.get();
  for (size_t i = 0; i < samples_; i++) sums[i] = kHalf;
  const uint32_t first = y_.first(y);
  const uint32_t count = y_.count(y);
  const int32_t* const weights = y_.of(y);
  for (uint32_t t = 0; t < count; t++) {
    const uint8_t* const row = ring_.get() + ((first + t) % y_.taps()) * samples_;
    const int32_t weight = weights[t];
    for (size_t i = 0; i < samples_; i++) sums[i] += row[i] * weight;
  }
  uint8_t* const levels = levels_.get();
  for (size_t i = 0; i < samples_; i++) levels[i] = Clip(sums[i]);
  if (plan_.has_alpha) Unpremultiply(levels, channels_, plan_.x.count);
  const size_t start = size_t{plan_.top + y} * plan_.width + plan_.left;
  if (table_ == nullptr && !plan_.is_planar) {
    std::memcpy(static_cast<uint8_t*>(out_) + start * channels_, levels, samples_);
    return;
  }
  const size_t plane = size_t{plan_.width} * plan_.height;
  for (uint32_t c = 0; c < channels_; c++) {
    const size_t from = plan_.is_planar ? c * plane + start : start * channels_ + c;
    const size_t step = plan_.is_planar ? 1 : channels_;
    const uint8_t* level = levels + c;
    if (table_ == nullptr) {
      uint8_t* to = static_cast<uint8_t*>(out_) + from;
      for (uint32_t x = 0; x < plan_.x.count; x++, to += step, level += channels_) *to = *level;
    } else {
      const float* const values = table_ + 256 * c;
      float* to = static_cast<float*>(out_) + from;
      for (uint32_t x = 0; x < plan_.x.count; x++, to += step, level += channels_) *to = values[*level];
    }
  }
}

}  // namespace serving
