// Reads the flat columns of small, valid Parquet files: seeds for native/check/readers.cpp.
// **Source**: the Thrift compact protocol, and parquet.thrift.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "../src/parquet_read.h"
#include "mutate.h"

namespace serving {

// A value of Thrift: a number, the elements of a list, or the fields of a struct.
struct Thrift {
  int64_t number = 0;
  std::vector<Thrift> items;
  std::map<int, Thrift> fields;

  bool Has(int id) const { return fields.count(id) != 0; }
  const Thrift& At(int id) const {
    static const Thrift none;
    const auto found = fields.find(id);
    return found == fields.end() ? none : found->second;
  }
  size_t Size(int id) const { return static_cast<size_t>(At(id).number); }
};

// Reads structs of the compact protocol. Bytes beyond the end read as 0. The add-on's own reader is ThriftReader.
class StructReader {
 public:
  StructReader(const Octets& bytes, size_t at) : bytes_(bytes), at_(at) {}
  size_t at() const { return at_; }

  Thrift Struct() {
    Thrift to;
    for (int id = 0;;) {
      const uint8_t head = Byte();
      if (head == 0) return to;
      id = (head >> 4) == 0 ? static_cast<int>(Number()) : id + (head >> 4);
      to.fields[id] = Value(head & 15);
    }
  }

 private:
  uint8_t Byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  int64_t Number() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  Thrift Value(int type) {
    Thrift to;
    if (type <= 2) {
      to.number = type == 1;
    } else if (type == 3) {
      to.number = Byte();
    } else if (type <= 6) {
      to.number = Number();
    } else if (type == 7) {
      at_ += 8;
    } else if (type == 8) {
      at_ += Varint();
    } else if (type == 9) {
      const uint8_t head = Byte();
      size_t count = head >> 4;
      if (count == 15) count = Varint();
      // Booleans in lists take a byte.
      for (; count > 0; count--) to.items.push_back(Value((head & 15) <= 2 ? 3 : head & 15));
    } else if (type == 12) {
      return Struct();
    }
    return to;
  }

  const Octets& bytes_;
  size_t at_;
};

// A page: what its header says, and its levels and values as they lie in the file.
struct SeedPage {
  ParquetPage head;
  Octets levels;
  Octets bytes;
};

// A column of one row group.
struct SeedColumn {
  Dtype dtype;
  bool is_optional;
  size_t rows;
  std::vector<SeedPage> pages;
};

// Returns the pages from the offset `at` on that hold `rows` rows, a dictionary included. Returns none when a page ends
// behind the file.
inline std::vector<SeedPage> PagesOf(const Octets& file, size_t at, size_t rows, bool is_snappy) {
  std::vector<SeedPage> pages;
  while (rows > 0) {
    StructReader reader(file, at);
    const Thrift head = reader.Struct();
    const size_t packed = head.Size(3);
    if (packed > file.size() - reader.at()) return {};
    const size_t kind = head.Size(1);
    const bool is_v2 = kind == 3;
    const Thrift& own = head.At(kind == 2 ? 7 : is_v2 ? 8 : 5);
    const size_t levels = is_v2 ? own.Size(5) + own.Size(6) : 0;
    const auto start = file.begin() + static_cast<std::ptrdiff_t>(reader.at());
    const auto values = start + static_cast<std::ptrdiff_t>(std::min(levels, packed));
    SeedPage page{{}, Octets(start, values), Octets(values, start + static_cast<std::ptrdiff_t>(packed))};
    page.head.is_dictionary = kind == 2;
    page.head.values = own.Size(1);
    page.head.encoding = static_cast<int>(own.Size(is_v2 ? 4 : 2));
    page.head.is_snappy = is_snappy && !(is_v2 && own.Has(7) && own.Size(7) == 0);
    page.head.unpacked = head.Size(2) - levels;
    page.head.has_levels = is_v2;
    page.head.starts_chunk = pages.empty();
    if (kind != 2) rows -= page.head.values < rows ? page.head.values : rows;
    pages.push_back(page);
    at = reader.at() + packed;
  }
  return pages;
}

// Returns the type for a number of the enum Type; float16 stands for those that are not read.
inline Dtype DtypeOfPhysical(size_t type) {
  constexpr Dtype kTypes[] = {Dtype::kBool,    Dtype::kInt32,   Dtype::kInt64, Dtype::kFloat16,
                              Dtype::kFloat32, Dtype::kFloat64, Dtype::kStr,   Dtype::kFloat16};
  return kTypes[type % 8];
}

// Adds the columns of each row group to `to`, without those of nested files, of repeated fields and of codecs other
// than Snappy.
inline void AddColumns(const Octets& file, std::vector<SeedColumn>& to) {
  if (file.size() < 12) return;
  const uint8_t* const tail = file.data() + file.size() - 8;
  const size_t length = tail[0] | tail[1] << 8 | tail[2] << 16;
  if (length > file.size() - 12) return;
  const Thrift footer = StructReader(file, file.size() - 8 - length).Struct();
  const std::vector<Thrift>& schema = footer.At(2).items;
  for (const Thrift& group : footer.At(4).items) {
    const std::vector<Thrift>& chunks = group.At(1).items;
    if (schema.size() != chunks.size() + 1) return;
    for (size_t i = 0; i < chunks.size(); i++) {
      const Thrift& leaf = schema[i + 1];
      const Thrift& chunk = chunks[i].At(3);
      const size_t codec = chunk.Size(4);
      if (codec > 1 || leaf.Size(3) > 1) continue;
      const size_t data = chunk.Size(9);
      const size_t dictionary = chunk.Has(11) ? chunk.Size(11) : 0;
      const size_t start = dictionary > 0 && dictionary < data ? dictionary : data;
      SeedColumn column{DtypeOfPhysical(chunk.Size(1)), leaf.Size(3) == 1, chunk.Size(5), {}};
      column.pages = PagesOf(file, start, column.rows, codec == 1);
      if (!column.pages.empty()) to.push_back(column);
    }
  }
}

}  // namespace serving
