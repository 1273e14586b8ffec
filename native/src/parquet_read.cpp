#include "parquet_read.h"

#include <algorithm>

#include "simdjson.h"
#include "snappy.h"
#include "swar.h"

namespace serving {
namespace {

constexpr int kPlainDictionary = 2;

// Texts up to this length are copied by one move of so many bytes.
constexpr size_t kShortText = 16;

uint32_t Load32(const uint8_t* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Returns the bytes from `at` on.
Span From(Span bytes, size_t at) { return {bytes.data + at, bytes.size - at}; }

// Clears `bytes` and returns room for `count` elements; nullptr when there is no memory.
template <class T>
T* Room(Bytes& bytes, size_t count) {
  bytes.Clear();
  return bytes.Reserve(count * sizeof(T) + 1) ? bytes.As<T>() : nullptr;
}

// Reads groups of eight packed numbers, as long as a load does not read beyond them. Returns how many numbers these
// are.
template <class T>
size_t ReadGroups(Span packed, unsigned width, T* into, size_t count) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  const unsigned half = width * 4;
  const size_t groups = packed.size < width + 16 ? 0 : std::min(count / 8, (packed.size - 16) / std::max(width, 1u));
  const uint8_t* at = packed.data;
  for (const uint8_t* const end = at + groups * width; at != end; at += width, into += 8) {
    if (width > 16) {
      for (size_t i = 0; i < 8; i++) {
        into[i] = static_cast<T>((LoadEight(at + i * width / 8) >> (i * width % 8)) & mask);
      }
      continue;
    }
    // Four are in one load.
    uint64_t low = LoadEight(at);
    uint64_t high = LoadEight(at + half / 8) >> (half % 8);
    for (size_t i = 0; i < 4; i++) {
      into[i] = static_cast<T>(low & mask);
      into[i + 4] = static_cast<T>(high & mask);
      low >>= width;
      high >>= width;
    }
  }
  return width == 0 ? 0 : groups * 8;
}

// Reads what starts a run: twice how often its number repeats, or one more than twice the groups of eight that follow.
bool ReadRunHeader(Span bytes, size_t& at, uint32_t& header) {
  for (unsigned shift = 0; at < bytes.size && shift <= 28; shift += 7) {
    const uint8_t byte = bytes.data[at++];
    header |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Whether levels are one run of ones.
bool AreOnes(Span levels, size_t count) {
  size_t at = 0;
  uint32_t header = 0;
  return ReadRunHeader(levels, at, header) && header % 2 == 0 && header / 2 >= count && at < levels.size &&
         levels.data[at] == 1;
}

// Reads `count` numbers of `width` bits: runs of one number, and groups of eight packed ones.
template <class T>
bool ReadHybrid(Span bytes, unsigned width, T* into, size_t count) {
  if (width > 32) return false;
  const size_t run_bytes = (width + 7) / 8;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  size_t at = 0;
  for (size_t filled = 0; filled < count;) {
    uint32_t header = 0;
    if (!ReadRunHeader(bytes, at, header)) return false;
    const size_t length = header >> 1;
    if (length == 0) return false;
    if ((header & 1) == 0) {
      if (run_bytes > bytes.size - at) return false;
      uint64_t value = 0;
      for (size_t i = 0; i < run_bytes; i++) value |= static_cast<uint64_t>(bytes.data[at++]) << (8 * i);
      if (value > mask) return false;
      const size_t end = filled + std::min(length, count - filled);
      std::fill(into + filled, into + end, static_cast<T>(value));
      filled = end;
      continue;
    }
    const size_t here = std::min(length * 8, count - filled);
    // Writers may leave out the end of the last group.
    if ((here * width + 7) / 8 > bytes.size - at) return false;
    const uint8_t* const from = bytes.data + at;
    const size_t left = bytes.size - at;
    const size_t grouped = ReadGroups({from, left}, width, into + filled, here);
    size_t bit = grouped * width;
    for (size_t i = grouped; i < here; i++, bit += width) {
      const size_t place = bit / 8;
      uint64_t word = 0;
      if (place + 8 <= left) {
        std::memcpy(&word, from + place, 8);
      } else {
        std::memcpy(&word, from + place, left - place);
      }
      into[filled + i] = static_cast<T>((word >> (bit % 8)) & mask);
    }
    filled += here;
    at += std::min(length * width, left);
  }
  return true;
}

void SetBits(uint8_t* bits, size_t from, size_t count) {
  for (; count > 0 && from % 8 != 0; from++, count--) bits[from / 8] |= static_cast<uint8_t>(1 << (from % 8));
  std::memset(bits + from / 8, 0xff, count / 8);
  if (count % 8 != 0) bits[(from + count) / 8] |= static_cast<uint8_t>((1 << (count % 8)) - 1);
}

template <class T>
bool NarrowTo(uint8_t* data, size_t rows) {
  const int32_t* const wide = reinterpret_cast<const int32_t*>(data);
  bool fits = true;
  for (size_t i = 0; i < rows; i++) {
    const T value = static_cast<T>(wide[i]);
    fits &= static_cast<int32_t>(value) == wide[i];
    // In place: each is written at or before the number that it is made from.
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
  }
  return fits;
}

}  // namespace

void ParquetDecoder::Begin(ParquetColumn& column) {
  column_ = &column;
  row_ = 0;
  has_dictionary_ = false;
}

bool ParquetDecoder::Add(const ParquetPage& page) {
  if (page.starts_chunk) has_dictionary_ = false;
  return page.is_dictionary ? ReadDictionary(page) : ReadData(page);
}

bool ParquetDecoder::Finish() {
  if (row_ != rows_) return false;
  return column_->dtype == Dtype::kStr ? FinishTexts() : Narrow();
}

bool ParquetDecoder::Unpack(const ParquetPage& page, Bytes& into, Span& out) {
  const auto& [data, size] = page.bytes;
  if (page.unpacked == 0) {
    out = {data, 0};
    return true;
  }
  if (!page.is_snappy) {
    out = page.bytes;
    return size == page.unpacked;
  }
  into.Clear();
  if (!into.Reserve(page.unpacked + kSnappyRoom) || !UnpackSnappy(data, size, into.data(), page.unpacked)) return false;
  out = {into.data(), page.unpacked};
  return true;
}

bool ParquetDecoder::ReadDictionary(const ParquetPage& page) {
  if (has_dictionary_ || column_->dtype == Dtype::kBool) return false;
  if (page.encoding != kPlain && page.encoding != kPlainDictionary) return false;
  if (!Unpack(page, dictionary_page_, dictionary_)) return false;
  const size_t size = PhysicalSize(column_->dtype);
  // Each text takes four bytes at least.
  if (page.values > dictionary_.size / (size == 0 ? 4 : size)) return false;
  entries_ = page.values;
  has_dictionary_ = true;
  if (size != 0) return true;
  if (dictionary_.size > UINT32_MAX) return false;
  uint32_t* const starts = Room<uint32_t>(starts_, entries_ * 2);
  if (starts == nullptr) return false;
  size_t at = 0;
  for (size_t i = 0; i < entries_; i++) {
    if (dictionary_.size - at < 4) return false;
    const size_t length = Load32(dictionary_.data + at);
    at += 4;
    if (length > dictionary_.size - at) return false;
    starts[i * 2] = static_cast<uint32_t>(at);
    starts[i * 2 + 1] = static_cast<uint32_t>(length);
    at += length;
  }
  return true;
}

bool ParquetDecoder::ReadData(const ParquetPage& page) {
  if (page.values == 0 || page.values > rows_ - row_) return false;
  count_ = page.values;
  present_ = count_;
  Span values;
  Span levels = page.levels;
  if (!Unpack(page, page_, values)) return false;
  if (!page.has_levels && column_->is_optional) {
    if (values.size < 4) return false;
    const size_t length = Load32(values.data);
    if (length > values.size - 4) return false;
    levels = {values.data + 4, length};
    values = From(values, 4 + length);
  }
  if (column_->is_optional) {
    if (!ReadLevels(levels, count_)) return false;
  } else {
    SetBits(column_->validity, row_, count_);
  }
  bool done = false;
  if (page.encoding == kPlain) {
    done = column_->dtype == Dtype::kStr ? ReadPlainTexts(values) : ReadPlain(values);
  } else if (page.encoding == kPlainDictionary || page.encoding == kRleDictionary) {
    done = has_dictionary_ && ReadCodes(values);
  } else if (page.encoding == kRle && column_->dtype == Dtype::kBool && values.size >= 4) {
    const size_t length = Load32(values.data);
    uint8_t* const flags = Room<uint8_t>(numbers_, present_);
    done = flags != nullptr && length <= values.size - 4 && ReadHybrid({values.data + 4, length}, 1, flags, present_);
    if (done)
      EachRow([data = column_->data, flags](size_t i, size_t row) {
        data[row / 8] |= static_cast<uint8_t>(flags[i] << row % 8);
      });
  }
  row_ += count_;
  return done;
}

bool ParquetDecoder::ReadLevels(Span levels, size_t count) {
  if (AreOnes(levels, count)) {
    SetBits(column_->validity, row_, count);
    return true;
  }
  uint8_t* const flags = Room<uint8_t>(flags_, count);
  if (flags == nullptr || !ReadHybrid(levels, 1, flags, count)) return false;
  size_t present = 0;
  for (size_t i = 0; i < count; i++) present += flags[i];
  present_ = present;
  if (IsDense()) {
    SetBits(column_->validity, row_, count);
  } else {
    column_->nulls += count - present;
    const size_t size = PhysicalSize(column_->dtype);
    if (size != 0) std::memset(column_->data + row_ * size, 0, count * size);
    for (size_t i = 0; i < count; i++) {
      column_->validity[(row_ + i) / 8] |= static_cast<uint8_t>(flags[i] << ((row_ + i) % 8));
    }
  }
  return true;
}

template <class Place>
void ParquetDecoder::EachRow(Place place) const {
  // Locals: what is written could be these members, for all that the compiler knows.
  const size_t row = row_;
  const size_t count = count_;
  if (IsDense()) {
    for (size_t i = 0; i < count; i++) place(i, row + i);
    return;
  }
  const uint8_t* const flags = flags_.data();
  for (size_t i = 0, value = 0; i < count; i++) {
    if (flags[i] != 0) place(value++, row + i);
  }
}

// Value `i` of the page is number `at(i)` of those from `from` on.
template <class At>
void ParquetDecoder::PlaceNumbers(const uint8_t* from, At at) {
  uint8_t* const data = column_->data;
  if (PhysicalSize(column_->dtype) == 4) {
    EachRow([=](size_t i, size_t row) { std::memcpy(data + row * 4, from + at(i) * 4, 4); });
  } else {
    EachRow([=](size_t i, size_t row) { std::memcpy(data + row * 8, from + at(i) * 8, 8); });
  }
}

bool ParquetDecoder::ReadPlain(Span bytes) {
  const size_t size = PhysicalSize(column_->dtype);
  uint8_t* const data = column_->data;
  if (size == 0) {
    if (present_ > bytes.size * 8) return false;
    EachRow([=](size_t i, size_t row) {
      data[row / 8] |= static_cast<uint8_t>(((bytes.data[i / 8] >> (i % 8)) & 1) << (row % 8));
    });
    return true;
  }
  if (present_ > bytes.size / size) return false;
  if (IsDense()) {
    std::memcpy(data + row_ * size, bytes.data, present_ * size);
  } else {
    PlaceNumbers(bytes.data, [](size_t i) { return i; });
  }
  return true;
}

// Appends a text, for which room has been made, and for kShortText bytes more; `readable` bytes follow `from`.
void ParquetDecoder::AppendText(const uint8_t* from, size_t size, size_t readable) {
  Bytes& text = column_->text;
  uint8_t* const to = text.data() + text.size();
  if (size <= kShortText && readable >= kShortText) {
    std::memcpy(to, from, kShortText);
  } else {
    std::memcpy(to, from, size);
  }
  text.Advance(size);
}

bool ParquetDecoder::ReadPlainTexts(Span bytes) {
  Bytes& text = column_->text;
  if (!text.Reserve(bytes.size + kShortText) || text.size() + bytes.size > INT32_MAX) return false;
  int32_t* const offsets = column_->offsets;
  size_t at = 0;
  const uint8_t* const flags = IsDense() ? nullptr : flags_.data();
  for (size_t i = 0; i < count_; i++) {
    if (flags == nullptr || flags[i] != 0) {
      if (bytes.size - at < 4) return false;
      const size_t length = Load32(bytes.data + at);
      at += 4;
      if (length > bytes.size - at) return false;
      AppendText(bytes.data + at, length, bytes.size - at);
      at += length;
    }
    offsets[row_ + i + 1] = static_cast<int32_t>(text.size());
  }
  return true;
}

bool ParquetDecoder::ReadCodes(Span bytes) {
  if (bytes.size == 0) return false;
  uint32_t* const codes = Room<uint32_t>(numbers_, present_);
  if (codes == nullptr || !ReadHybrid(From(bytes, 1), bytes.data[0], codes, present_)) return false;
  uint32_t largest = 0;
  for (size_t i = 0; i < present_; i++) largest = std::max(largest, codes[i]);
  if (present_ > 0 && largest >= entries_) return false;
  const uint8_t* const values = dictionary_.data;
  if (PhysicalSize(column_->dtype) != 0) {
    PlaceNumbers(values, [codes](size_t i) { return size_t{codes[i]}; });
    return true;
  }
  const uint32_t* const starts = starts_.As<uint32_t>();
  size_t total = 0;
  for (size_t i = 0; i < present_; i++) total += starts[size_t{codes[i]} * 2 + 1];
  Bytes& text = column_->text;
  // An entry may be repeated in each row.
  if (total > work_ || !text.Reserve(total + kShortText) || text.size() + total > INT32_MAX) return false;
  work_ -= total;
  int32_t* const offsets = column_->offsets;
  const uint8_t* const flags = IsDense() ? nullptr : flags_.data();
  for (size_t i = 0, value = 0; i < count_; i++) {
    if (flags == nullptr || flags[i] != 0) {
      const size_t code = codes[value++];
      const size_t start = starts[code * 2];
      AppendText(values + start, starts[code * 2 + 1], dictionary_.size - start);
    }
    offsets[row_ + i + 1] = static_cast<int32_t>(text.size());
  }
  return true;
}

// Checks that all texts are UTF-8, and cut between characters.
bool ParquetDecoder::FinishTexts() {
  const Bytes& text = column_->text;
  const char* const bytes = reinterpret_cast<const char*>(text.data());
  uint8_t all = 0;
  for (size_t i = 0; i < text.size(); i++) all |= text.data()[i];
  if (all < 0x80) return true;
  if (!simdjson::validate_utf8(bytes, text.size())) return false;
  for (size_t row = 1; row < rows_; row++) {
    const size_t at = static_cast<size_t>(column_->offsets[row]);
    if (at < text.size() && (text.data()[at] & 0xc0) == 0x80) return false;
  }
  return true;
}

// Converts 32-bit integers to the narrower type of their column, in place. Returns false when one does not fit.
bool ParquetDecoder::Narrow() {
  bool fits = true;
  const auto narrow = [&](auto zero) { fits = NarrowTo<decltype(zero)>(column_->data, rows_); };
  if (ItemSize(column_->dtype) < 4) WithInteger(column_->dtype, narrow);
  return fits;
}

}  // namespace serving
