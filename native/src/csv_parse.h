// CSV lines below the header become typed columns.
#pragma once

#include <memory>

#include "frame_columns.h"
#include "number_parse.h"

namespace serving {

// Reads one text of valid UTF-8 without blank lines. Types are decided over all lines, as Polars does: integers, with
// fractions among them floats, booleans, and text for everything else and for what is mixed. A false answer means only
// that the text is not as simple as that, or wrong, or that memory ran out: Polars then reads it, or says what is
// wrong.
class CsvParser {
 public:
  CsvParser(const uint8_t* text, size_t length, size_t columns, const uint8_t* is_text, size_t max_cells)
      : begin_(text), end_(text + length), count_(columns), is_text_(is_text), max_cells_(max_cells) {}

  bool Parse();

  size_t rows() const { return rows_; }
  size_t columns() const { return count_; }
  const ColumnBuilder& column(size_t at) const { return columns_[at].builder; }

 private:
  struct Column {
    ColumnBuilder builder;
    // Everything is text.
    bool is_text = false;
    // Elements of more than one kind: to be read again as text.
    bool is_mixed = false;
    bool has_fraction = false;
    // Integers that only a float holds, and those that a float holds otherwise: -0.
    bool has_large = false;
    bool has_minus_zero = false;
  };

  bool Start();
  bool Pass();
  bool Row(const uint8_t*& p);
  bool Field(const uint8_t*& p, Column& column);
  bool Quoted(const uint8_t*& p, Column& column);
  bool Value(const uint8_t* start, size_t size, Column& column);
  bool OddNumber(const uint8_t* start, size_t size, Column& column, bool& found);
  bool Number(const NumberToken& token, Column& column);
  bool Text(const uint8_t* start, size_t size, Column& column);
  static bool Take(Added added, Column& column);
  bool IsEnd(const uint8_t* p) const { return p == end_ || *p == ',' || *p == '\n' || *p == '\r'; }

  const uint8_t* const begin_;
  const uint8_t* const end_;
  const size_t count_;
  const uint8_t* const is_text_;
  const size_t max_cells_;
  size_t rows_ = 0;
  std::unique_ptr<Column[]> columns_;
  Bytes scratch_;
};

}  // namespace serving
