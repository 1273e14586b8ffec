#include "parquet_write.h"

#include <algorithm>
#include <memory>
#include <new>

namespace serving {
namespace {

// Numbers of the enums Encoding and PageType.
constexpr int kPlain = 0;
constexpr int kRle = 3;
constexpr int kRleDictionary = 8;
constexpr int kDataPage = 0;
constexpr int kDictionaryPage = 2;

// A page's header, the length of its levels, and the header of its run of codes.
constexpr size_t kHeaderBytes = 64;

// Dictionaries: minimum number of rows, maximum number of entries, and slots of the hash table. A value that is not
// found in kMaxSteps slots ends the attempt, so that no choice of values makes it slow.
constexpr size_t kMinRows = 256;
constexpr size_t kMaxEntries = 4096;
// After so many entries, more than half of the values so far must have been there before.
constexpr size_t kSampleEntries = 1024;
constexpr size_t kSlots = 4 * kMaxEntries;
constexpr size_t kMaxSteps = 24;

class Writer {
 public:
  explicit Writer(uint8_t* at) : at_(at) {}
  uint8_t* at() const { return at_; }

  void Byte(unsigned value) { *at_++ = static_cast<uint8_t>(value); }
  void Raw(const void* bytes, size_t count) {
    if (count != 0) std::memcpy(at_, bytes, count);
    at_ += count;
  }
  void Uint32(size_t value) {
    const uint32_t word = static_cast<uint32_t>(value);
    Raw(&word, sizeof word);
  }
  void Varint(uint64_t value) {
    for (; value > 0x7f; value >>= 7) Byte((value & 0x7f) | 0x80);
    Byte(static_cast<unsigned>(value));
  }
  // A field of type i32 that follows the one before.
  void Field(uint64_t value) {
    Byte(0x15);
    Varint(value * 2);
  }

  // PageHeader: 1 type, 2 and 3 sizes, 5 DataPageHeader or 7 DictionaryPageHeader; of these 1 num_values, 2 encoding,
  // the first also 3 and 4, the encodings of levels.
  void PageHeader(int type, size_t bytes, size_t values, int encoding) {
    Field(static_cast<uint64_t>(type));
    Field(bytes);
    Field(bytes);
    Byte(type == kDataPage ? 0x2c : 0x4c);
    Field(values);
    Field(static_cast<uint64_t>(encoding));
    if (type == kDataPage) {
      Field(kRle);
      Field(kRle);
    }
    Byte(0);
    Byte(0);
  }

 private:
  uint8_t* at_;
};

size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value > 0x7f; value >>= 7) bytes++;
  return bytes;
}

// Narrow integers take 32 bits, the fewest that Parquet has.
size_t PlainSize(Dtype dtype) { return std::max<size_t>(4, ItemSize(dtype)); }

bool IsText(const EncodeColumn& column) { return column.dtype >= Dtype::kStr; }

int32_t OffsetAt(const EncodeColumn& column, size_t row) {
  int32_t offset;
  std::memcpy(&offset, column.offsets.data + row * 4, 4);
  return offset;
}

// Calls `with(row)` for each row that has a value; ends when it returns false.
template <class With>
bool EachValue(const EncodeColumn& column, size_t rows, const With& with) {
  const uint8_t* const bits = column.validity.data;
  for (size_t row = 0; row < rows; row++) {
    if (bits != nullptr && (bits[row / 8] >> (row % 8) & 1) == 0) continue;
    if (!with(row)) return false;
  }
  return true;
}

// Levels of version 1: their length, then one run of ones, or all bits in groups of eight.
size_t LevelBytes(const EncodeColumn& column, size_t rows) {
  if (column.validity.data == nullptr) return 4 + VarintBytes(rows * 2) + 1;
  const size_t groups = (rows + 7) / 8;
  return 4 + VarintBytes(groups * 2 + 1) + groups;
}

void WriteLevels(Writer& out, const EncodeColumn& column, size_t rows) {
  out.Uint32(LevelBytes(column, rows) - 4);
  const uint8_t* const bits = column.validity.data;
  if (bits == nullptr) {
    out.Varint(rows * 2);
    out.Byte(1);
    return;
  }
  const size_t groups = (rows + 7) / 8;
  out.Varint(groups * 2 + 1);
  out.Raw(bits, groups);
  if (rows % 8 != 0) out.at()[-1] &= static_cast<uint8_t>((1 << (rows % 8)) - 1);
}

// Whether the texts of a column are valid: none ends before it starts, or beyond the bytes.
bool HasTexts(const EncodeColumn& column, size_t rows) {
  int32_t last = OffsetAt(column, 0);
  if (last < 0) return false;
  for (size_t row = 1; row <= rows; row++) {
    const int32_t at = OffsetAt(column, row);
    if (at < last) return false;
    last = at;
  }
  return static_cast<size_t>(last) <= column.data.size;
}

template <class T>
void WriteWidened(Writer& out, const EncodeColumn& column, size_t rows) {
  EachValue(column, rows, [&](size_t row) {
    T value;
    std::memcpy(&value, column.data.data + row * sizeof(T), sizeof(T));
    const int32_t wide = static_cast<int32_t>(value);
    out.Raw(&wide, 4);
    return true;
  });
}

template <size_t N>
void WriteFixed(Writer& out, const EncodeColumn& column, size_t rows) {
  EachValue(column, rows, [&](size_t row) {
    out.Raw(column.data.data + row * N, N);
    return true;
  });
}

void WriteFlags(Writer& out, const EncodeColumn& column, size_t rows) {
  unsigned byte = 0;
  size_t count = 0;
  EachValue(column, rows, [&](size_t row) {
    byte |= (column.data.data[row / 8] >> (row % 8) & 1u) << (count % 8);
    if (++count % 8 == 0) {
      out.Byte(byte);
      byte = 0;
    }
    return true;
  });
  if (count % 8 != 0) out.Byte(byte);
}

void WriteTexts(Writer& out, const EncodeColumn& column, size_t rows) {
  EachValue(column, rows, [&](size_t row) {
    const size_t start = static_cast<size_t>(OffsetAt(column, row));
    const size_t length = static_cast<size_t>(OffsetAt(column, row + 1)) - start;
    out.Uint32(length);
    out.Raw(column.data.data + start, length);
    return true;
  });
}

void WritePlain(Writer& out, const EncodeColumn& column, size_t rows) {
  if (IsText(column)) return WriteTexts(out, column, rows);
  if (column.dtype == Dtype::kBool) return WriteFlags(out, column, rows);
  const size_t size = ItemSize(column.dtype);
  const auto widen = [&](auto zero) { WriteWidened<decltype(zero)>(out, column, rows); };
  if (size < 4) return void(WithInteger(column.dtype, widen));
  if (column.validity.data == nullptr) return out.Raw(column.data.data, rows * size);
  if (size == 4) return WriteFixed<4>(out, column, rows);
  return WriteFixed<8>(out, column, rows);
}

uint64_t Mixed(uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  return value ^ value >> 32;
}

uint64_t HashOf(const uint8_t* bytes, size_t count) {
  uint64_t hash = count;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    hash = Mixed(hash ^ word);
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return Mixed(hash ^ word);
}

// Finds the values of a column that repeat.
class Dictionary {
 public:
  // Returns false when too few values repeat, and when there is no memory.
  bool Make(const EncodeColumn& column, size_t rows) {
    if (!slots_.Reserve(kSlots * 2) || !codes_.Reserve(rows * 2)) return false;
    std::memset(slots_.data(), 0, kSlots * 2);
    const size_t size = IsText(column) ? 0 : ItemSize(column.dtype);
    return EachValue(column, rows, [&](size_t row) {
      const size_t start = size == 0 ? static_cast<size_t>(OffsetAt(column, row)) : row * size;
      const size_t length = size == 0 ? static_cast<size_t>(OffsetAt(column, row + 1)) - start : size;
      return Add(column.data.data + start, length);
    });
  }

  size_t entries() const { return entries_; }
  size_t codes() const { return codes_.size() / 2; }
  unsigned width() const {
    unsigned width = 1;
    while (entries_ > size_t{1} << width) width++;
    return width;
  }
  // The bytes of the codes in groups of eight, after their width and the header of their run.
  size_t CodeBytes() const { return 1 + VarintBytes(Groups() * 2 + 1) + Groups() * width(); }
  size_t PlainBytes(bool is_text) const { return bytes_ + (is_text ? entries_ * 4 : 0); }

  void WriteEntries(Writer& out, bool is_text) const {
    for (size_t i = 0; i < entries_; i++) {
      if (is_text) out.Uint32(values_[i].size);
      out.Raw(values_[i].data, values_[i].size);
    }
  }

  void WriteCodes(Writer& out) const {
    const unsigned bits = width();
    out.Byte(bits);
    out.Varint(Groups() * 2 + 1);
    uint64_t word = 0;
    unsigned filled = 0;
    const uint16_t* const codes = codes_.As<uint16_t>();
    for (size_t i = 0; i < Groups() * 8; i++) {
      word |= static_cast<uint64_t>(i < this->codes() ? codes[i] : 0) << filled;
      for (filled += bits; filled >= 8; filled -= 8, word >>= 8) out.Byte(word & 0xff);
    }
  }

 private:
  size_t Groups() const { return (codes() + 7) / 8; }

  bool Add(const uint8_t* bytes, size_t length) {
    uint16_t* const slots = slots_.As<uint16_t>();
    size_t slot = HashOf(bytes, length) % kSlots;
    for (size_t step = 0; step < kMaxSteps; step++, slot = (slot + 1) % kSlots) {
      if (slots[slot] == 0) {
        if (entries_ == kMaxEntries || (entries_ >= kSampleEntries && entries_ * 2 > codes())) return false;
        values_[entries_++] = {bytes, length};
        bytes_ += length;
        slots[slot] = static_cast<uint16_t>(entries_);
        return codes_.Push(static_cast<uint16_t>(entries_ - 1));
      }
      const Span& known = values_[slots[slot] - 1];
      if (known.size == length && std::memcmp(known.data, bytes, length) == 0) {
        return codes_.Push(static_cast<uint16_t>(slots[slot] - 1));
      }
    }
    return false;
  }

  Bytes slots_;
  Bytes codes_;
  Span values_[kMaxEntries];
  size_t entries_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

size_t ParquetBound(const EncodeColumn& column, size_t rows) {
  const size_t values = IsText(column)                 ? rows * 4 + column.data.size
                        : column.dtype == Dtype::kBool ? (rows + 7) / 8
                                                       : rows * PlainSize(column.dtype);
  return 2 * kHeaderBytes + (rows + 7) / 8 + values;
}

bool WriteParquet(const EncodeColumn& column, size_t rows, uint8_t* out, size_t at, WrittenPages& pages) {
  const bool is_text = IsText(column);
  if (is_text && !HasTexts(column, rows)) return false;
  const size_t levels = LevelBytes(column, rows);
  Writer writer(out + at);
  pages.dictionary = SIZE_MAX;
  const bool may_repeat =
      is_text || ((ItemSize(column.dtype) == 4 || ItemSize(column.dtype) == 8) && column.dtype < Dtype::kFloat16);
  if (rows >= kMinRows && may_repeat) {
    const std::unique_ptr<Dictionary> dictionary(new (std::nothrow) Dictionary);
    if (dictionary != nullptr && dictionary->Make(column, rows) && dictionary->codes() >= kMinRows &&
        dictionary->entries() * 2 <= dictionary->codes()) {
      pages.dictionary = at;
      writer.PageHeader(kDictionaryPage, dictionary->PlainBytes(is_text), dictionary->entries(), kPlain);
      dictionary->WriteEntries(writer, is_text);
      pages.data = static_cast<size_t>(writer.at() - out);
      writer.PageHeader(kDataPage, levels + dictionary->CodeBytes(), rows, kRleDictionary);
      WriteLevels(writer, column, rows);
      dictionary->WriteCodes(writer);
      pages.end = static_cast<size_t>(writer.at() - out);
      return true;
    }
  }
  size_t values = rows;
  size_t text = 0;
  if (column.validity.data != nullptr || is_text) {
    values = 0;
    EachValue(column, rows, [&](size_t row) {
      values++;
      if (is_text) text += static_cast<size_t>(OffsetAt(column, row + 1) - OffsetAt(column, row));
      return true;
    });
  }
  const size_t bytes = is_text                        ? values * 4 + text
                       : column.dtype == Dtype::kBool ? (values + 7) / 8
                                                      : values * PlainSize(column.dtype);
  pages.data = at;
  writer.PageHeader(kDataPage, levels + bytes, rows, kPlain);
  WriteLevels(writer, column, rows);
  WritePlain(writer, column, rows);
  pages.end = static_cast<size_t>(writer.at() - out);
  return true;
}

}  // namespace serving
