// Packs the result of a parse into one block of memory for JavaScript.
#pragma once

#include "csv_parse.h"
#include "frame_parse.h"

namespace serving {

// Memory from malloc, which the caller must free; data == nullptr: out of memory.
struct Packed {
  uint8_t* data = nullptr;
  size_t size = 0;
};

// Packs the table, or why parsing failed. Read by src/values/table/json/native-codec.ts.
Packed PackFrame(const FrameParser& parser);

// Packs the table of CSV lines, or why parsing failed.
Packed PackCsv(const CsvParser& parser);

}  // namespace serving
