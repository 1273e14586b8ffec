// simdjson's implementation, compiled from the npm package's sources as a part of ours: gyp cannot name sources by
// absolute paths.
#include "simdjson.cpp"
