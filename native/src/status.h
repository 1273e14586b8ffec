// What calls about arrays have in common. C++ exceptions never cross the boundary.
#pragma once

#include "dtype.h"

namespace serving {

constexpr int kMaxDimensions = 64;

}  // namespace serving
