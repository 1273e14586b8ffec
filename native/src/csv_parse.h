// CSV lines below the header become typed columns.
#pragma once

#include <memory>

#include "frame_columns.h"
#include "number_parse.h"

namespace serving {

// Why a text is no table, in the order of `csvFailures` in src/frame/csv.ts.
enum class CsvError : int { kNone = 0, kRagged, kQuote, kCells, kMemory };

// Parses lines of valid UTF-8 below the header, as pandas' read_csv does; blank ones are skipped. The type of a column
// is decided over all lines: integers, unsigned where they do not fit into 64 bits with a sign, floats, booleans, and
// text for everything else and for what is mixed.
class CsvParser {
 public:
  CsvParser(const uint8_t* text, size_t length, size_t columns, const uint8_t* is_text, size_t max_cells)
      : begin_(text), end_(text + length), count_(columns), is_text_(is_text), max_cells_(max_cells) {}

  // When it returns false, `error()` says why.
  bool Parse();

  size_t rows() const { return rows_; }
  size_t columns() const { return count_; }
  const ColumnBuilder& column(size_t at) const { return columns_[at].builder; }
  // Whether the integers of a column are unsigned.
  bool is_unsigned(size_t at) const { return columns_[at].mode == Mode::kUnsigned; }

  CsvError error() const { return error_; }
  // Where the line or the field starts that is wrong. Its row is `rows()`.
  size_t error_offset() const { return error_offset_; }

 private:
  // How numbers are read: as they come, or as the whole column was found to need.
  enum class Mode { kInferred, kText, kFloat, kUnsigned };

  struct Column {
    ColumnBuilder builder;
    Mode mode = Mode::kInferred;
    // Elements of more than one kind.
    bool is_mixed = false;
    bool has_fraction = false;
    bool has_negative = false;
    // Integers beyond int64, and beyond uint64.
    bool has_large = false;
    bool has_huge = false;
    // The integer -0, which differs from 0 among floats.
    bool has_minus_zero = false;
  };

  bool Start();
  bool Pass();
  Mode NextMode(const Column& column) const;
  bool Row(const uint8_t*& p);
  bool Field(const uint8_t*& p, Column& column);
  bool Quoted(const uint8_t*& p, Column& column);
  bool Value(const uint8_t* start, size_t size, Column& column);
  bool OddNumber(const uint8_t* start, size_t size, Column& column, bool& found);
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
