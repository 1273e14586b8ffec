// Parses the lines of a CSV text below its header into typed columns.
#pragma once

#include <memory>

#include "frame_columns.h"
#include "number_parse.h"

namespace serving {

// Parses lines of valid UTF-8 below the header, as pandas' read_csv does; blank lines are skipped. The type of a column
// is decided over all lines: int64, uint64 when int64 is too small, float64, bool, and text for everything else and for
// mixed types.
class CsvParser {
 public:
  CsvParser(const uint8_t* text, size_t length, size_t columns, const uint8_t* is_text, size_t max_cells)
      : begin_(text), end_(text + length), count_(columns), is_text_(is_text), max_cells_(max_cells) {}

  // Returns false on failure; `error()` says why.
  bool Parse();

  size_t rows() const { return rows_; }
  size_t columns() const { return count_; }
  const ColumnBuilder& column(size_t at) const { return columns_[at].builder; }
  // Whether the integers of a column are uint64.
  bool is_unsigned(size_t at) const { return columns_[at].mode == Mode::kUnsigned; }

  CsvError error() const { return error_; }
  // Offset of the wrong line or field; its row is `rows()`.
  size_t error_offset() const { return error_offset_; }

 private:
  // How the fields of a column are read: with their types inferred, or all as one type.
  enum class Mode { kInferred, kText, kFloat, kUnsigned };

  struct Column {
    ColumnBuilder builder;
    Mode mode = Mode::kInferred;
    // Whether elements of more than one type were found.
    bool is_mixed = false;
    bool has_fraction = false;
    bool has_negative = false;
    // Whether integers beyond int64, and beyond uint64, were found.
    bool has_large = false;
    bool has_huge = false;
    // Whether the integer -0 was found, which differs from 0 as a float.
    bool has_minus_zero = false;
  };

  bool Start();
  bool Pass();
  Mode NextMode(const Column& column) const;
  bool Row(const uint8_t*& p);
  bool Field(const uint8_t*& p, Column& column);
  bool Quoted(const uint8_t*& p, Column& column);
  bool Value(const uint8_t* start, size_t size, Column& column);
  bool OddNumber(const uint8_t* start, size_t size, const uint8_t* field, size_t field_size, Column& column,
                 bool& found);
  bool Number(const NumberToken& token, const uint8_t* start, size_t size, Column& column);
  bool Text(const uint8_t* start, size_t size, Column& column);
  bool Take(Added added, Column& column);
  bool Fail(CsvError error, const uint8_t* at) {
    error_ = error;
    error_offset_ = static_cast<size_t>(at - begin_);
    return false;
  }
  bool IsEnd(const uint8_t* p) const { return p == end_ || *p == ',' || *p == '\n' || *p == '\r'; }

  const uint8_t* const begin_;
  const uint8_t* const end_;
  const size_t count_;
  const uint8_t* const is_text_;
  const size_t max_cells_;
  size_t rows_ = 0;
  std::unique_ptr<Column[]> columns_;
  Bytes scratch_;
  Bytes number_;
  CsvError error_ = CsvError::kNone;
  size_t error_offset_ = 0;
};

}  // namespace serving
