// Decodes the pages of flat Parquet columns into columns laid out like Arrow's.
// Source: parquet-format 2.10, "Encodings" and "Data Pages"; Snappy's "format_description.txt". All bytes and numbers
// may be a client's: each is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frame_columns.h"
#include "frame_encode.h"

namespace serving {

// Numbers of the enum Encoding.
constexpr int kPlain = 0;
constexpr int kRle = 3;
constexpr int kRleDictionary = 8;

// One page; what its header says.
struct ParquetPage {
  bool is_dictionary;
  // Number in the enum Encoding.
  int encoding;
  size_t values;
  // Packed by Snappy to `unpacked` bytes; otherwise as it is.
  bool is_snappy;
  Span bytes;
  size_t unpacked;
  // Version 2: the levels, which version 1 has in front of the values.
  bool has_levels;
  Span levels;
  // Whether the page is the first one of its chunk, whose dictionary is its own.
  bool starts_chunk;
};

// One column: where its elements go. `data` is empty for text.
struct ParquetColumn {
  Dtype dtype = Dtype::kBool;
  bool is_optional = false;
  uint8_t* data = nullptr;
  uint8_t* validity = nullptr;
  // Text only: rows + 1 numbers.
  int32_t* offsets = nullptr;
  // Text only: the bytes.
  Bytes text;
  size_t nulls = 0;
};

// Returns the bytes that a value takes in a page: narrow integers 32 bits, the fewest that Parquet has; 0 for booleans
// and text.
constexpr size_t PhysicalSize(Dtype dtype) {
  const size_t size = ItemSize(dtype);
  return dtype == Dtype::kBool || size == 0 ? 0 : size < 4 ? 4 : size;
}

// Decodes the pages of one column after the other, all of them within a bound of what they make.
class ParquetDecoder {
 public:
  // `work`: how many bytes of text dictionaries may still make, which is taken off.
  ParquetDecoder(size_t rows, size_t& work) : rows_(rows), work_(work) {}

  // Begins a column, whose validity and flags are zeros.
  void Begin(ParquetColumn& column);
  // Fills the column by its pages in their order, and checks it as a whole. Both return false for what does not fit or
  // is unknown, and when there is no memory.
  bool Add(const ParquetPage& page);
  bool Finish();

 private:
  bool ReadDictionary(const ParquetPage& page);
  bool ReadData(const ParquetPage& page);
  // Unpacks the values of a page.
  bool Unpack(const ParquetPage& page, Bytes& into, Span& out);
  bool ReadLevels(Span levels, size_t count);
  bool ReadPlain(Span bytes);
  bool ReadPlainTexts(Span bytes);
  bool ReadCodes(Span bytes);
  void AppendText(const uint8_t* from, size_t size, size_t readable);
  bool FinishTexts();
  bool Narrow();
  // Whether each row of the page has a value.
  bool IsDense() const { return present_ == count_; }
  // Calls `place(i, row)` for value `i` of the page, in the row that has it.
  template <class Place>
  void EachRow(Place place) const;
  template <class At>
  void PlaceNumbers(const uint8_t* from, At at);

  const size_t rows_;
  size_t& work_;
  ParquetColumn* column_ = nullptr;
  // The page: its first row, its rows, those that have a value, and a flag for each.
  size_t row_ = 0;
  size_t count_ = 0;
  size_t present_ = 0;
  Bytes flags_;
  Bytes numbers_;
  Bytes page_;
  // The chunk's dictionary: its values, or where each text starts and ends.
  bool has_dictionary_ = false;
  size_t entries_ = 0;
  Span dictionary_{nullptr, 0};
  Bytes dictionary_page_;
  Bytes starts_;
};

}  // namespace serving
