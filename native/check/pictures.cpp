// Gives damaged JPEGs to the decoder, as pixels and through the resampler, as tensors are made. Our code is built with
// sanitizers; the library of the system is not, so that what it may read and write ends at a page without access. Run
// by native/check.mjs: `pictures ROUNDS SEED FILE...`, a round is one damaged picture; the files are JPEG.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../image/jpeg.h"
#include "mutate.h"

namespace {

using serving::Expect;
using serving::failures;
using serving::Mutator;
using serving::Octets;
using serving::Picture;

// Memory whose last byte is followed by a page that nobody may touch.
class Fence {
 public:
  explicit Fence(size_t most) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    size_ = (most + page_ - 1) / page_ * page_;
    void* const memory = mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    start_ = static_cast<uint8_t*>(memory);
    if (mprotect(start_ + size_, page_, PROT_NONE) != 0) std::abort();
  }

  // Returns the last `size` bytes, which is at most what was asked for.
  uint8_t* Last(size_t size) const { return start_ + size_ - size; }

 private:
  size_t page_;
  size_t size_;
  uint8_t* start_;
};

// Sides above it are left out: the server refuses or allocates them before the decoder is called.
constexpr uint32_t kMostSide = 512;
constexpr size_t kMostBytes = 1 << 16;
constexpr size_t kMostPixels = size_t{kMostSide} * kMostSide * 4;

// Finds the frame header as src/values/image/header.ts does. Returns false where the server would not call the decoder.
bool ReadHeader(const Octets& bytes, Picture& picture) {
  size_t at = 2;
  while (at + 9 < bytes.size()) {
    if (bytes[at] != 0xff) return false;
    const uint8_t marker = bytes[at + 1];
    if (marker == 0xff || (marker >= 0xd0 && marker <= 0xd8) || marker == 0x01) {
      at += marker == 0xff ? 1 : 2;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
      picture.height = bytes[at + 5] * 256u + bytes[at + 6];
      picture.width = bytes[at + 7] * 256u + bytes[at + 8];
      picture.channels = bytes[at + 9];
      const bool is_small = picture.width - 1 < kMostSide && picture.height - 1 < kMostSide;
      return is_small && (picture.channels == 1 || picture.channels == 3 || picture.channels == 4);
    }
    at += 2 + bytes[at + 2] * 256u + bytes[at + 3];
  }
  return false;
}

serving::Axis AxisOf(Mutator& mutate, uint32_t side, uint32_t denominator) {
  const uint32_t full = 1 + static_cast<uint32_t>(mutate.Below(64));
  const uint32_t first = static_cast<uint32_t>(mutate.Below(full));
  const uint32_t count = 1 + static_cast<uint32_t>(mutate.Below(full - first));
  return {serving::ScaledSide(side, denominator), static_cast<double>(side) / denominator, full, first, count};
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  Mutator mutate(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  std::vector<Octets> seeds;
  for (int i = 3; i < argc; i++) seeds.push_back(serving::FileBytes(argv[i]));
  Expect(!seeds.empty() && !seeds[0].empty(), "no JPEG files");
  const Fence input(kMostBytes);
  const Fence pixels(kMostPixels);
  const Fence row(kMostSide * 3);
  const Fence tensor(64 * 64 * 3 * sizeof(float));
  const float table[3 * 256] = {};
  uint64_t decoded = 0, resized = 0, refused = 0;
  for (uint64_t i = 0; i < rounds && failures == 0; i++) {
    Octets bytes = seeds[mutate.Below(seeds.size())];
    mutate.Damage(bytes, seeds[mutate.Below(seeds.size())]);
    Picture picture{};
    if (bytes.size() > kMostBytes || !ReadHeader(bytes, picture)) continue;
    // A header that two parsers read differently: memory is allocated for what ours found.
    if (mutate.OneIn(8)) picture.width = 1 + static_cast<uint32_t>(mutate.Below(kMostSide));
    if (mutate.OneIn(8)) picture.height = 1 + static_cast<uint32_t>(mutate.Below(kMostSide));
    const uint32_t denominator = 1u << mutate.Below(4);
    const uint32_t width = serving::ScaledSide(picture.width, denominator);
    const uint32_t height = serving::ScaledSide(picture.height, denominator);
    uint8_t* const from = input.Last(bytes.size());
    std::memcpy(from, bytes.data(), bytes.size());
    char failure[serving::kFailureLength] = {};
    serving::StopFlag stop{0};
    serving::Resampler resampler;
    // Inks are never resized here.
    const bool is_resized = picture.channels != 4 && mutate.OneIn(2);
    serving::RowTarget target{};
    if (is_resized) {
      const uint32_t channels = mutate.OneIn(2) ? 1 : 3;
      serving::ResamplePlan plan{};
      plan.filter = static_cast<serving::Filter>(mutate.Below(3));
      plan.x = AxisOf(mutate, picture.width, denominator);
      plan.y = AxisOf(mutate, picture.height, denominator);
      plan.input_channels = picture.channels;
      plan.channels = channels;
      plan.left = static_cast<uint32_t>(mutate.Below(64 - plan.x.count + 1));
      plan.top = static_cast<uint32_t>(mutate.Below(64 - plan.y.count + 1));
      plan.width = plan.left + plan.x.count;
      plan.height = plan.top + plan.y.count;
      plan.is_planar = mutate.OneIn(2);
      const bool is_float = mutate.OneIn(2);
      const size_t size = size_t{plan.width} * plan.height * channels * (is_float ? sizeof(float) : 1);
      if (!resampler.Prepare(plan, is_float ? table : nullptr, tensor.Last(size))) std::abort();
      target.row = row.Last(size_t{width} * picture.channels);
      target.resampler = &resampler;
    } else {
      target.pixels = pixels.Last(size_t{width} * height * picture.channels);
    }
    serving::DecodeJpeg(from, bytes.size(), picture, denominator, target, stop, failure);
    (failure[0] != 0 ? refused : is_resized ? resized : decoded)++;
  }
  Expect(rounds < 1000 || (decoded > 0 && resized > 0 && refused > 0), "the decoder took all or nothing");
  std::printf("%zu pictures as seeds; of damaged: %llu decoded, %llu resized, %llu refused, %llu failures\n",
              seeds.size(), static_cast<unsigned long long>(decoded), static_cast<unsigned long long>(resized),
              static_cast<unsigned long long>(refused), static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}
