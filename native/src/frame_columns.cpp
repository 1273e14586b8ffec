#include "frame_columns.h"

namespace serving {

bool Bytes::Grow(size_t more) {
  if (more > (SIZE_MAX >> 1) - size_) return false;
#ifdef SERVING_EXACT_ROOM
  // native/check.mjs: a sanitizer sees what is written beyond the room that was asked for.
  const size_t room = size_ + more;
#else
  size_t room = room_ < 64 ? 64 : room_ * 2;
  while (room - size_ < more) room *= 2;
#endif
  void* const grown = std::realloc(data_, room);
  if (grown == nullptr) return false;
  data_ = static_cast<uint8_t*>(grown);
  room_ = room;
  return true;
}

bool ColumnBuilder::AddNull() {
  if (!has_null_) {
    if (!valid_.Reserve(length_ + 1)) return false;
    std::memset(valid_.data(), 1, length_);
    valid_.Advance(length_);
    has_null_ = true;
  }
  bool done = true;
  if (kind_ == ColumnKind::kBool) {
    done = cells_.Push<uint8_t>(0);
  } else if (HasText(kind_)) {
    done = offsets_.Push(static_cast<int32_t>(text_.size()));
  } else if (kind_ != ColumnKind::kNull) {
    done = cells_.Push<int64_t>(0);
  }
  return done && Mark(0);
}

bool ColumnBuilder::PadTo(size_t length) {
  while (length_ < length) {
    if (!AddNull()) return false;
  }
  return true;
}

// Converts the column to another kind: from nulls to any, from integers to floats, from int64 to uint64 if no element
// is negative.
bool ColumnBuilder::ConvertTo(ColumnKind kind, Added& why) {
  why = Added::kNoMemory;
  if (kind_ == ColumnKind::kNull) {
    kind_ = kind;
    Bytes& cells = HasText(kind) ? offsets_ : cells_;
    const size_t width = HasText(kind) ? 4 : kind == ColumnKind::kBool ? 1 : 8;
    const size_t size = width * (length_ + (HasText(kind) ? 1 : 0));
    if (size == 0) return true;
    if (!cells.Reserve(size)) return false;
    std::memset(cells.data(), 0, size);
    cells.Advance(size);
    return true;
  }
  const bool was_signed = kind_ == ColumnKind::kInt64;
  if ((was_signed || kind_ == ColumnKind::kUint64) && kind == ColumnKind::kFloat64) {
    kind_ = kind;
    for (size_t i = 0; i < length_; i++) {
      const int64_t bits = cells_.As<int64_t>()[i];
      const double value = was_signed ? static_cast<double>(bits) : static_cast<double>(static_cast<uint64_t>(bits));
      std::memcpy(cells_.data() + i * 8, &value, 8);
    }
    return true;
  }
  if (was_signed && kind == ColumnKind::kUint64) {
    why = Added::kOtherKind;
    for (size_t i = 0; i < length_; i++) {
      if (cells_.As<int64_t>()[i] < 0) return false;
    }
    kind_ = kind;
    return true;
  }
  why = Added::kOtherKind;
  return false;
}

Added ColumnBuilder::AddBool(bool value) {
  Added why;
  if (kind_ != ColumnKind::kBool && !ConvertTo(ColumnKind::kBool, why)) return why;
  return cells_.Push<uint8_t>(value ? 1 : 0) && Mark(1) ? Added::kYes : Added::kNoMemory;
}

Added ColumnBuilder::AddOtherInt(int64_t value) {
  if (kind_ == ColumnKind::kFloat64) return AddFloat(static_cast<double>(value));
  if (kind_ == ColumnKind::kUint64) return value < 0 ? Added::kOtherKind : AddUnsigned(static_cast<uint64_t>(value));
  Added why;
  return ConvertTo(ColumnKind::kInt64, why) ? AddInt(value) : why;
}

Added ColumnBuilder::AddUnsigned(uint64_t value) {
  if (kind_ == ColumnKind::kFloat64) return AddFloat(static_cast<double>(value));
  Added why;
  if (kind_ != ColumnKind::kUint64 && !ConvertTo(ColumnKind::kUint64, why)) return why;
  return cells_.Push(value) && Mark(1) ? Added::kYes : Added::kNoMemory;
}

bool ColumnBuilder::Copy(const ColumnBuilder& from, size_t row) {
  if (from.has_null_ && from.valid_.data()[row] == 0) return AddNull();
  switch (from.kind_) {
    case ColumnKind::kBool:
      return AddBool(from.cells_.data()[row] != 0) == Added::kYes;
    case ColumnKind::kInt64:
      return AddInt(from.cells_.As<int64_t>()[row]) == Added::kYes;
    case ColumnKind::kUint64:
      return AddUnsigned(from.cells_.As<uint64_t>()[row]) == Added::kYes;
    case ColumnKind::kFloat64:
      return AddFloat(from.cells_.As<double>()[row]) == Added::kYes;
    case ColumnKind::kText:
    case ColumnKind::kJson: {
      size_t count;
      const uint8_t* const bytes = from.TextAt(row, count);
      return AddBytes(from.kind_, bytes, count) == Added::kYes;
    }
    case ColumnKind::kNull:
      break;
  }
  return AddNull();
}

// SipHash-1-3 (Aumasson and Bernstein): keyed, so that a client cannot choose names that collide.
uint64_t HashTable::Hash(const uint8_t* bytes, size_t count) const {
  uint64_t v0 = key0_ ^ 0x736f6d6570736575u;
  uint64_t v1 = key1_ ^ 0x646f72616e646f6du;
  uint64_t v2 = key0_ ^ 0x6c7967656e657261u;
  uint64_t v3 = key1_ ^ 0x7465646279746573u;
  const auto rotate = [](uint64_t value, int by) { return value << by | value >> (64 - by); };
  const auto round = [&] {
    v0 += v1;
    v1 = rotate(v1, 13) ^ v0;
    v0 = rotate(v0, 32);
    v2 += v3;
    v3 = rotate(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotate(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotate(v1, 17) ^ v2;
    v2 = rotate(v2, 32);
  };
  uint64_t last = static_cast<uint64_t>(count) << 56;
  size_t left = count;
  for (; left >= 8; left -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    v3 ^= word;
    round();
    v0 ^= word;
  }
  for (size_t i = 0; i < left; i++) last |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  v3 ^= last;
  round();
  v0 ^= last;
  v2 ^= 0xff;
  for (int i = 0; i < 3; i++) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

void HashTable::Put(Slot* slots, size_t room, const Slot& slot) const {
  size_t at = slot.low & (room - 1);
  while (slots[at].number != 0) at = (at + 1) & (room - 1);
  slots[at] = slot;
}

bool HashTable::Grow() {
  const size_t room = room_ == 0 ? 64 : room_ * 2;
  Slot* const slots = static_cast<Slot*>(std::calloc(room, sizeof(Slot)));
  if (slots == nullptr) return false;
  for (size_t i = 0; i < room_; i++) {
    if (slots_[i].number != 0) Put(slots, room, slots_[i]);
  }
  std::free(slots_);
  slots_ = slots;
  room_ = room;
  return true;
}

bool HashTable::Insert(uint64_t hash, uint32_t number) {
  if (used_ * 2 >= room_ && !Grow()) return false;
  Put(slots_, room_, Slot{static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(hash), number + 1});
  used_++;
  return true;
}

}  // namespace serving
