// Changes bytes at random, as test/fuzz/mutator.ts does.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace serving {

using Octets = std::vector<uint8_t>;

inline uint64_t failures = 0;

// Counts a failure unless `is_right`, and prints the first 20.
inline void Expect(bool is_right, const char* what) {
  if (!is_right && ++failures <= 20) std::printf("%s\n", what);
}

// Returns the bytes of a file; none when it cannot be read.
inline Octets FileBytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return Octets(std::istreambuf_iterator<char>(file), {});
}

// Random changes that a seed determines.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // Returns a number below `bound`, which is above 0.
  size_t Below(size_t bound) { return static_cast<size_t>(random_() % bound); }
  // Returns true once in `count` calls on average.
  bool OneIn(size_t count) { return Below(count) == 0; }

  // Makes one to eight changes, one in sixteen times none. Some insert bytes of `other`.
  void Damage(Octets& bytes, const Octets& other) {
    if (OneIn(16)) return;
    for (size_t left = 1 + Below(OneIn(2) ? 2 : 8); left > 0; left--) Change(bytes, other);
  }

 private:
  // Bytes at the edges of ranges, and those that mean something in JSON and CSV.
  static constexpr uint8_t kOdd[] = {0, 1, 3, 0x7f, 0x80, 0xfe, 0xff, '"', '[', '{', ',', ':', '\n', '\\', '-', 'e'};

  void Change(Octets& bytes, const Octets& other) {
    const size_t at = Below(bytes.size() + 1);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t behind = bytes.size() - at;
    const size_t count = behind == 0 ? 0 : 1 + Below(behind < 8 || OneIn(4) ? behind : 8);
    switch (Below(7)) {
      case 0:
        if (behind > 0) bytes[at] ^= static_cast<uint8_t>(1 << Below(8));
        break;
      case 1:
        if (behind > 0) bytes[at] = kOdd[Below(sizeof kOdd)];
        break;
      case 2:
        bytes.insert(here, kOdd[Below(sizeof kOdd)]);
        break;
      case 3:
        bytes.erase(here, here + static_cast<std::ptrdiff_t>(count));
        break;
      case 4:
        // Cuts off the end.
        if (OneIn(4)) bytes.erase(here, bytes.end());
        break;
      case 5: {
        const Octets again(here, here + static_cast<std::ptrdiff_t>(count));
        if (bytes.size() < kMaxSize)
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(Below(at + 1)), again.begin(), again.end());
        break;
      }
      default: {
        const size_t from = Below(other.size() + 1);
        const size_t rest = other.size() - from;
        const auto start = other.begin() + static_cast<std::ptrdiff_t>(from);
        const size_t length = rest == 0 ? 0 : 1 + Below(rest);
        if (bytes.size() < kMaxSize) bytes.insert(here, start, start + static_cast<std::ptrdiff_t>(length));
      }
    }
  }

  // From this size on nothing is inserted.
  static constexpr size_t kMaxSize = 16384;
  std::mt19937_64 random_;
};

}  // namespace serving
