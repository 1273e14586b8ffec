// Column builders, and the hash tables that find columns and labels by name. Nothing here throws: a result says when
// memory runs out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "dtype.h"

namespace serving {

// A byte buffer that grows.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { std::free(data_); }

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

  // Makes room for `more` further bytes.
  bool Reserve(size_t more) { return more <= room_ - size_ || Grow(more); }
  void Advance(size_t count) { size_ += count; }
  void Clear() { size_ = 0; }
  // Returns the memory, which the caller must free.
  uint8_t* Release() {
    uint8_t* const data = data_;
    data_ = nullptr;
    size_ = 0;
    room_ = 0;
    return data;
  }

  template <class T>
  bool Push(T value) {
    if (!Reserve(sizeof(T))) return false;
    std::memcpy(data_ + size_, &value, sizeof(T));
    size_ += sizeof(T);
    return true;
  }

  bool Append(const uint8_t* bytes, size_t count) {
    if (!Reserve(count)) return false;
    if (count != 0) std::memcpy(data_ + size_, bytes, count);
    size_ += count;
    return true;
  }

  template <class T>
  T* As() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  bool Grow(size_t more);

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;
};

// The codes of the element types (src/core/dtype.ts) that JSON and CSV can produce.
enum class ColumnKind : int {
  kNull = -1,
  kBool = static_cast<int>(Dtype::kBool),
  kInt64 = static_cast<int>(Dtype::kInt64),
  // Only once an integer beyond int64 has come.
  kUint64 = static_cast<int>(Dtype::kUint64),
  kFloat64 = static_cast<int>(Dtype::kFloat64),
  kText = static_cast<int>(Dtype::kStr),
  // Lists and objects as they were written.
  kJson = static_cast<int>(Dtype::kJson),
};

// Whether the elements of a kind are bytes of any length.
constexpr bool HasText(ColumnKind kind) { return kind == ColumnKind::kText || kind == ColumnKind::kJson; }

// The result of adding an element to a column.
enum class Added : int { kYes, kOtherKind, kNoMemory };

// Collects the elements of one column; infers its kind from them.
class ColumnBuilder {
 public:
  ColumnKind kind() const { return kind_; }
  size_t length() const { return length_; }
  bool has_null() const { return has_null_; }
  const Bytes& cells() const { return cells_; }
  const Bytes& text() const { return text_; }
  const Bytes& offsets() const { return offsets_; }
  const Bytes& valid() const { return valid_; }

  bool AddNull();
  // Makes it a text column even if no text follows. Called before any element is added.
  bool MakeText() {
    Added why;
    return ConvertTo(ColumnKind::kText, why);
  }
  bool PadTo(size_t length);
  Added AddBool(bool value);
  Added AddInt(int64_t value) {
    if (kind_ != ColumnKind::kInt64) return AddOtherInt(value);
    return cells_.Push(value) && Mark(1) ? Added::kYes : Added::kNoMemory;
  }
  Added AddFloat(double value) {
    Added why;
    if (kind_ != ColumnKind::kFloat64 && !ConvertTo(ColumnKind::kFloat64, why)) return why;
    return cells_.Push(value) && Mark(1) ? Added::kYes : Added::kNoMemory;
  }
  // Adds an integer that may be beyond int64.
  Added AddUnsigned(uint64_t value);
  Added AddText(const uint8_t* bytes, size_t count) { return AddBytes(ColumnKind::kText, bytes, count); }
  // Adds a list or an object as it is written.
  Added AddJson(const uint8_t* bytes, size_t count) { return AddBytes(ColumnKind::kJson, bytes, count); }

  // Appends element `row` of another builder.
  bool Copy(const ColumnBuilder& from, size_t row);

  const uint8_t* TextAt(size_t row, size_t& count) const {
    const int32_t* const offsets = offsets_.As<int32_t>();
    count = static_cast<size_t>(offsets[row + 1] - offsets[row]);
    return text_.data() + offsets[row];
  }

 private:
  Added AddOtherInt(int64_t value);
  Added AddBytes(ColumnKind kind, const uint8_t* bytes, size_t count) {
    Added why;
    if (kind_ != kind && !ConvertTo(kind, why)) return why;
    const bool done = text_.Append(bytes, count) && offsets_.Push(static_cast<int32_t>(text_.size())) && Mark(1);
    return done ? Added::kYes : Added::kNoMemory;
  }
  bool ConvertTo(ColumnKind kind, Added& why);
  bool Mark(uint8_t valid) {
    length_++;
    return !has_null_ || valid_.Push(valid);
  }

  ColumnKind kind_ = ColumnKind::kNull;
  size_t length_ = 0;
  bool has_null_ = false;
  Bytes cells_;
  Bytes text_;
  Bytes offsets_;
  // One byte for each element, from the first null on.
  Bytes valid_;
};

// A hash table from bytes to numbers that stores only hashes; the caller compares the bytes. The hash is keyed, so that
// clients cannot predict it.
class HashTable {
 public:
  HashTable() = default;
  HashTable(const HashTable&) = delete;
  HashTable& operator=(const HashTable&) = delete;
  ~HashTable() { std::free(slots_); }

  void Seed(uint64_t first, uint64_t second) {
    key0_ = first;
    key1_ = second;
  }
  uint64_t Hash(const uint8_t* bytes, size_t count) const;

  // Returns the number with this hash for which `is` returns true; -1 when there is none.
  template <class Is>
  int64_t Find(uint64_t hash, const Is& is) const {
    if (room_ == 0) return -1;
    for (size_t at = hash & (room_ - 1);; at = (at + 1) & (room_ - 1)) {
      if (slots_[at].number == 0) return -1;
      if (slots_[at].hash == static_cast<uint32_t>(hash >> 32) && is(slots_[at].number - 1))
        return slots_[at].number - 1;
    }
  }
  // Rehashing needs no bytes: the stored part of the hash is enough for up to 2^32 slots.
  bool Insert(uint64_t hash, uint32_t number);

 private:
  struct Slot {
    uint32_t hash;
    uint32_t low;
    // The number plus one; 0 marks an empty slot.
    uint32_t number;
  };

  bool Grow();
  void Put(Slot* slots, size_t room, const Slot& slot) const;

  Slot* slots_ = nullptr;
  size_t room_ = 0;
  size_t used_ = 0;
  uint64_t key0_ = 0;
  uint64_t key1_ = 0;
};

}  // namespace serving
