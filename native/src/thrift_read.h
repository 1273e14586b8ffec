// Reads structs of Thrift's compact protocol. All bytes may be a client's. Source: the specification of the protocol.
#pragma once

#include <initializer_list>

#include "frame_encode.h"

namespace serving {

// Reads from the start of `bytes` on. After a mistake nothing more is read, and `ok` is false.
class ThriftReader {
 public:
  explicit ThriftReader(Span bytes) : at_(bytes.data), end_(bytes.data + bytes.size) {}

  bool ok() const { return ok_; }
  const uint8_t* at() const { return at_; }

  // Calls `read(id, type)` for each field of a struct. It reads the value and returns true; otherwise that is skipped.
  template <class Read>
  void Struct(const Read& read) {
    Enter();
    int id = 0;
    for (uint8_t head = Byte(); head != 0; head = Byte()) {
      id = NextId(id, head);
      if (!read(id, head & 15)) Skip(head & 15);
    }
    depth_--;
  }

  // What follows reads a value if it is of the type, and returns whether it is.

  bool Integer(int type, int64_t& to) {
    if (type < kI16 || type > kI64) return false;
    to = Signed();
    // Readers cut a number that is too large for its type in ways of their own: such a file has no one meaning.
    if (type == kI32 && to != static_cast<int32_t>(to)) Fail();
    return true;
  }
  bool Flag(int type, bool& to) {
    to = type == kTrue;
    return type == kTrue || type == kFalse;
  }
  bool Text(int type, Span& to) {
    if (type != kText) return false;
    const uint64_t size = Varint();
    to = {at_, static_cast<size_t>(size)};
    Advance(size);
    return true;
  }
  // Calls `read(id, type)` for each field.
  template <class Read>
  bool StructAt(int type, const Read& read) {
    if (type != kStruct) return false;
    Struct(read);
    return true;
  }
  // A union is the id of the field that it holds, 0 for an empty one.
  bool Union(int type, int& to) {
    to = 0;
    return StructAt(type, [&](int id, int) {
      to = id;
      return false;
    });
  }
  // Calls `read()` for each struct of a list, which reads it.
  template <class Read>
  bool Structs(int type, const Read& read) {
    if (type != kList) return false;
    const ListStart list = StartList();
    if (list.count > 0 && list.type != kStruct) Fail();
    // Each takes a byte at least, so that a false count ends at the end of the bytes.
    for (uint64_t i = 0; i < list.count && ok_; i++) read();
    return true;
  }

  void Fail() {
    ok_ = false;
    at_ = end_;
  }

 private:
  enum Type : int {
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kI16 = 4,
    kI32 = 5,
    kI64 = 6,
    kDouble = 7,
    kText = 8,
    kList = 9,
    kSet = 10,
    kMap = 11,
    kStruct = 12,
  };
  static constexpr int kMaxDepth = 16;

  struct ListStart {
    uint64_t count;
    int type;
  };

  void Enter() {
    if (++depth_ > kMaxDepth) Fail();
  }
  uint8_t Byte() {
    if (at_ != end_) return *at_++;
    Fail();
    return 0;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  int64_t Signed() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
  }
  void Advance(uint64_t count) {
    if (count > static_cast<uint64_t>(end_ - at_)) return Fail();
    at_ += count;
  }
  // Ids are the distance from the field before, or follow as a number of 16 bits.
  int NextId(int last, uint8_t head) {
    if (head >> 4 != 0) return last + (head >> 4);
    const int64_t id = Signed();
    if (id != static_cast<int16_t>(id)) Fail();
    return static_cast<int>(static_cast<int16_t>(id));
  }
  ListStart StartList() {
    const uint8_t head = Byte();
    return {head >> 4 == 15 ? Varint() : head >> 4, head & 15};
  }
  void Skip(int type, bool is_element = false) {
    const bool is_flag = type == kTrue || type == kFalse;
    if (is_flag && !is_element) return;
    if (is_flag || type == kByte) return Advance(1);
    int64_t number;
    Span text;
    if (Integer(type, number) || Text(type, text)) return;
    if (type == kDouble) return Advance(8);
    const auto skip = [](int, int) { return false; };
    if (StructAt(type, skip)) return;
    if (type == kList || type == kSet) {
      const ListStart list = StartList();
      SkipAll(list.count, {list.type});
    } else if (type == kMap) {
      const uint64_t count = Varint();
      const uint8_t kinds = count == 0 ? 0 : Byte();
      SkipAll(count, {kinds >> 4, kinds & 15});
    } else {
      Fail();
    }
  }
  void SkipAll(uint64_t count, std::initializer_list<int> types) {
    Enter();
    for (uint64_t i = 0; i < count && ok_; i++) {
      for (const int type : types) Skip(type, true);
    }
    depth_--;
  }

  const uint8_t* at_;
  const uint8_t* const end_;
  bool ok_ = true;
  int depth_ = 0;
};

}  // namespace serving
