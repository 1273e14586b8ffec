// Writes flat columns as the pages of a Parquet file: one page a column; values that repeat go into a dictionary.
// Source: parquet-format 2.10, "Encodings" and "Data Pages", parquet.thrift.
#pragma once

#include "parquet_read.h"

namespace serving {

// Where the pages of a column start, and their bytes before packing; SIZE_MAX: no dictionary.
struct WrittenPages {
  size_t dictionary = SIZE_MAX;
  size_t data = 0;
  size_t end = 0;
  size_t unpacked = 0;
};

inline void PushVarint(Bytes& out, uint64_t value) {
  for (; value > 0x7f; value >>= 7) out.Push(static_cast<uint8_t>(value | 0x80));
  out.Push(static_cast<uint8_t>(value));
}

// Writes the columns of a file one after the other.
class ParquetWriter {
 public:
  // `out` has room for the bounds of all columns. `packs`: by Snappy.
  ParquetWriter(uint8_t* out, bool packs) : out_(out), packs_(packs) {}

  // Returns the most bytes that the pages of a column take. The column holds `rows`, see HoldsRows; text has offsets.
  static size_t Bound(const EncodeColumn& column, size_t rows);

  // Writes the pages of a column. Returns false when offsets contradict the text, and when there is no memory.
  bool Add(const EncodeColumn& column, size_t rows, WrittenPages& pages);

 private:
  struct Entry {
    uint64_t hash;
    Span value;
  };

  bool SetLevels(const EncodeColumn& column, size_t rows);
  Span Plain(const EncodeColumn& column, size_t rows);
  bool FindEntries(const EncodeColumn& column, size_t rows);
  void SetCodes(size_t entries);
  void SetHeader(int type, int encoding, size_t values, size_t bytes, size_t packed);
  void AddPage(int type, int encoding, size_t values, Span levels, Span content);

  uint8_t* const out_;
  const bool packs_;
  size_t size_ = 0;
  size_t unpacked_ = 0;
  Bytes header_;
  Bytes levels_;
  Bytes values_;
  // Of a dictionary: for each slot of the hash table the number of its entry + 1, or 0; the entries; the number of each
  // value's entry.
  Bytes slots_;
  Bytes entries_;
  Bytes codes_;
};

}  // namespace serving
