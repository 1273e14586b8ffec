#include "parquet_write.h"

#include <algorithm>

#include "snappy.h"

namespace serving {
namespace {

// Numbers of the enum PageType.
constexpr int kDataPage = 0;
constexpr int kDictionaryPage = 2;

// A page's header, the length of its levels, and the header of its run of codes.
constexpr size_t kHeaderBytes = 64;

// Dictionaries: minimum number of values, maximum number of entries. A value that is not found in kMaxSteps slots of
// the hash table ends the attempt, so that no choice of values makes it slow.
constexpr size_t kMinValues = 256;
constexpr size_t kMaxEntries = 1 << 14;
constexpr size_t kMaxSteps = 24;
// Four slots for each entry, two for the most: a larger table would not lie in a near cache.
constexpr unsigned kMaxSlotBits = 15;
// After so many entries, an eighth of the values so far must have been there before.
constexpr size_t kSampleEntries = 2048;

bool IsText(const EncodeColumn& column) { return column.dtype >= Dtype::kStr; }

int32_t OffsetAt(const EncodeColumn& column, size_t row) {
  int32_t offset;
  std::memcpy(&offset, column.offsets.data + row * 4, 4);
  return offset;
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

// Calls `with(value)` for the bytes of each value.
template <class With>
bool EachSpan(const EncodeColumn& column, size_t rows, const With& with) {
  if (!IsText(column)) {
    const uint8_t* const data = column.data.data;
    const size_t size = ItemSize(column.dtype);
    // A size that the compiler knows: most numbers are of it.
    if (size == 8) return EachValue(column, rows, [&](size_t row) { return with(Span{data + row * 8, 8}); });
    return EachValue(column, rows, [&](size_t row) { return with(Span{data + row * size, size}); });
  }
  return EachValue(column, rows, [&](size_t row) {
    const size_t start = static_cast<size_t>(OffsetAt(column, row));
    return with(Span{column.data.data + start, static_cast<size_t>(OffsetAt(column, row + 1)) - start});
  });
}

Span All(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

// The highest bits depend on all bits of the value.
uint64_t Mixed(uint64_t value) { return (value ^ value >> 32) * 0x9e3779b97f4a7c15; }

template <class Word>
uint64_t Load(const uint8_t* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Values of one size of eight bytes or fewer have the same hash only if they are equal.
uint64_t HashOf(Span value) {
  uint64_t hash = value.size;
  if (value.size == 0) return Mixed(hash);
  const uint8_t* const end = value.data + value.size;
  // Words that overlap have all bytes of a short value.
  if (value.size < 4) {
    return Mixed(hash ^ Load<uint8_t>(value.data) << 32 ^ Load<uint8_t>(value.data + value.size / 2) << 40 ^
                 Load<uint8_t>(end - 1) << 48);
  }
  if (value.size < 8) return Mixed(hash ^ (Load<uint32_t>(value.data) << 32 | Load<uint32_t>(end - 4)));
  for (const uint8_t* at = value.data; at < end - 8; at += 8) hash = Mixed(hash ^ Load<uint64_t>(at));
  return Mixed(hash ^ Load<uint64_t>(end - 8));
}

// Appends a value as pages hold it: narrow integers as 32 bits.
void PushPlain(Bytes& out, const EncodeColumn& column, Span value) {
  if (IsText(column)) {
    out.Push(static_cast<uint32_t>(value.size));
  } else if (value.size < 4) {
    WithInteger(column.dtype, [&](auto number) {
      std::memcpy(&number, value.data, sizeof number);
      out.Push(static_cast<int32_t>(number));
    });
    return;
  }
  out.Append(value.data, value.size);
}

// Appends bits, and clears those behind the last one.
bool PushBits(Bytes& out, const uint8_t* bits, size_t count) {
  if (!out.Append(bits, (count + 7) / 8)) return false;
  if (count % 8 != 0) out.data()[out.size() - 1] &= static_cast<uint8_t>((1 << (count % 8)) - 1);
  return true;
}

// Appends the flags of the rows that have a value.
void PushFlags(Bytes& out, const EncodeColumn& column, size_t rows) {
  unsigned byte = 0;
  size_t count = 0;
  EachValue(column, rows, [&](size_t row) {
    byte |= (column.data.data[row / 8] >> (row % 8) & 1u) << (count % 8);
    if (++count % 8 == 0) {
      out.Push(static_cast<uint8_t>(byte));
      byte = 0;
    }
    return true;
  });
  if (count % 8 != 0) out.Push(static_cast<uint8_t>(byte));
}

}  // namespace

size_t ParquetWriter::Bound(const EncodeColumn& column, size_t rows) {
  const size_t values = IsText(column)                 ? rows * 4 + column.data.size
                        : column.dtype == Dtype::kBool ? (rows + 7) / 8
                                                       : rows * PhysicalSize(column.dtype);
  return 2 * kHeaderBytes + SnappyBound((rows + 7) / 8 + values);
}

bool ParquetWriter::Add(const EncodeColumn& column, size_t rows, WrittenPages& pages) {
  if (IsText(column) && !HasTexts(column, rows)) return false;
  values_.Clear();
  if (!values_.Reserve(Bound(column, rows)) || !header_.Reserve(kHeaderBytes) || !SetLevels(column, rows)) return false;
  const size_t start = size_;
  unpacked_ = 0;
  const bool is_bool = column.dtype == Dtype::kBool;
  if (!is_bool && FindEntries(column, rows)) {
    pages.dictionary = start;
    const size_t entries = entries_.size() / sizeof(Entry);
    for (size_t i = 0; i < entries; i++) PushPlain(values_, column, entries_.As<Entry>()[i].value);
    AddPage(kDictionaryPage, kPlain, entries, {nullptr, 0}, All(values_));
    SetCodes(entries);
    pages.data = size_;
    AddPage(kDataPage, kRleDictionary, rows, All(levels_), All(values_));
  } else {
    pages.data = start;
    AddPage(kDataPage, kPlain, rows, All(levels_), Plain(column, rows));
  }
  pages.end = size_;
  pages.unpacked = unpacked_;
  return true;
}

// Sets the levels of version 1: their length, then one run of ones, or all bits in groups of eight.
bool ParquetWriter::SetLevels(const EncodeColumn& column, size_t rows) {
  const uint8_t* const bits = column.validity.data;
  levels_.Clear();
  if (!levels_.Reserve(kHeaderBytes + (rows + 7) / 8)) return false;
  levels_.Push(uint32_t{0});
  PushVarint(levels_, bits == nullptr ? rows * 2 : (rows + 7) / 8 * 2 + 1);
  bits == nullptr ? levels_.Push(uint8_t{1}) : PushBits(levels_, bits, rows);
  const uint32_t length = static_cast<uint32_t>(levels_.size() - 4);
  std::memcpy(levels_.data(), &length, 4);
  return true;
}

// Returns the values as a page holds them; `values_` has room for them.
Span ParquetWriter::Plain(const EncodeColumn& column, size_t rows) {
  if (column.dtype == Dtype::kBool) {
    if (column.validity.data == nullptr)
      PushBits(values_, column.data.data, rows);
    else
      PushFlags(values_, column, rows);
    return All(values_);
  }
  const size_t size = ItemSize(column.dtype);
  if (size >= 4 && column.validity.data == nullptr) return {column.data.data, rows * size};
  EachSpan(column, rows, [&](Span value) {
    PushPlain(values_, column, value);
    return true;
  });
  return All(values_);
}

// Finds the values that repeat. Returns false when too few do, and when there is no memory.
bool ParquetWriter::FindEntries(const EncodeColumn& column, size_t rows) {
  const size_t most = std::min(rows / 2, kMaxEntries);
  unsigned bits = 8;
  while (bits < kMaxSlotBits && size_t{1} << bits < most * 4) bits++;
  const size_t slots = size_t{1} << bits;
  codes_.Clear();
  entries_.Clear();
  if (rows < kMinValues || !slots_.Reserve(slots * 2) || !codes_.Reserve(rows * 2 + kHeaderBytes) ||
      !entries_.Reserve(most * sizeof(Entry))) {
    return false;
  }
  uint16_t* const places = slots_.As<uint16_t>();
  uint16_t* const codes = codes_.As<uint16_t>();
  Entry* const entries = entries_.As<Entry>();
  std::memset(places, 0, slots * 2);
  size_t count = 0;
  size_t values = 0;
  const bool all = EachSpan(column, rows, [&](Span value) {
    const uint64_t hash = HashOf(value);
    for (size_t step = 0; step < kMaxSteps; step++) {
      uint16_t& place = places[((hash >> (64 - bits)) + step) & (slots - 1)];
      if (place == 0) {
        if (count == most || (count >= kSampleEntries && count * 8 > values * 7)) return false;
        entries[count++] = {hash, value};
        place = static_cast<uint16_t>(count);
      }
      const Entry& entry = entries[place - 1];
      if (entry.hash == hash && entry.value.size == value.size &&
          (value.size <= 8 || std::memcmp(entry.value.data, value.data, value.size) == 0)) {
        codes[values++] = static_cast<uint16_t>(place - 1);
        return true;
      }
    }
    return false;
  });
  entries_.Advance(count * sizeof(Entry));
  codes_.Advance(values * 2);
  return all && values >= kMinValues && count * 2 <= values;
}

// Sets the numbers of the entries: their width, then one run of groups of eight.
void ParquetWriter::SetCodes(size_t entries) {
  unsigned width = 1;
  while (entries > size_t{1} << width) width++;
  const size_t count = codes_.size() / 2;
  const size_t groups = (count + 7) / 8;
  for (size_t i = count; i < groups * 8; i++) codes_.Push(uint16_t{0});
  values_.Clear();
  values_.Push(static_cast<uint8_t>(width));
  PushVarint(values_, groups * 2 + 1);
  const uint16_t* const codes = codes_.As<uint16_t>();
  uint64_t word = 0;
  unsigned filled = 0;
  for (size_t i = 0; i < groups * 8; i++) {
    word |= uint64_t{codes[i]} << filled;
    filled += width;
    if (filled < 32) continue;
    values_.Push(static_cast<uint32_t>(word));
    word >>= 32;
    filled -= 32;
  }
  for (; filled > 0; filled -= 8, word >>= 8) values_.Push(static_cast<uint8_t>(word));
}

// PageHeader: 1 type, 2 and 3 sizes, 5 DataPageHeader or 7 DictionaryPageHeader; of these 1 num_values, 2 encoding,
// the first also 3 and 4, the encodings of levels.
void ParquetWriter::SetHeader(int type, int encoding, size_t values, size_t bytes, size_t packed) {
  // A field of type i32 that follows the one before.
  const auto field = [&](uint64_t value) {
    header_.Push(uint8_t{0x15});
    PushVarint(header_, value * 2);
  };
  header_.Clear();
  field(static_cast<uint64_t>(type));
  field(bytes);
  field(packed);
  header_.Push(static_cast<uint8_t>(type == kDataPage ? 0x2c : 0x4c));
  field(values);
  field(static_cast<uint64_t>(encoding));
  if (type == kDataPage) {
    field(kRle);
    field(kRle);
  }
  header_.Push(uint16_t{0});
}

void ParquetWriter::AddPage(int type, int encoding, size_t values, Span levels, Span content) {
  const size_t bytes = levels.size + content.size;
  // Nearly always as long as the header with the packed size.
  SetHeader(type, encoding, values, bytes, bytes);
  const size_t room = header_.size();
  uint8_t* const out = out_ + size_;
  uint8_t* end = out + room;
  if (packs_) {
    end = StartSnappy(end, bytes);
    end = PackSnappy(end, levels.data, levels.size);
    end = PackSnappy(end, content.data, content.size);
  } else {
    if (levels.size != 0) std::memcpy(end, levels.data, levels.size);
    if (content.size != 0) std::memcpy(end + levels.size, content.data, content.size);
    end += bytes;
  }
  const size_t packed = static_cast<size_t>(end - out) - room;
  SetHeader(type, encoding, values, bytes, packed);
  if (header_.size() != room) std::memmove(out + header_.size(), out + room, packed);
  std::memcpy(out, header_.data(), header_.size());
  size_ += header_.size() + packed;
  unpacked_ += header_.size() + bytes;
}

}  // namespace serving
