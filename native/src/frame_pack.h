// The result of a parse in one piece of memory, for JavaScript.
#pragma once

#include "csv_parse.h"
#include "frame_parse.h"

namespace serving {

// Memory of malloc, which the caller owns; data == nullptr: no memory.
struct Packed {
  uint8_t* data = nullptr;
  size_t size = 0;
};

// The table of a text, or why it is none. src/frame/native-codec.ts reads it.
Packed PackFrame(const FrameParser& parser);

// The table of CSV lines, or why they are none.
Packed PackCsv(const CsvParser& parser);

}  // namespace serving
