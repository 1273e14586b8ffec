{
  "targets": [
    {
      "target_name": "serving_native",
      "sources": [
        "src/addon.cpp",
        "src/csv_parse.cpp",
        "src/frame_addon.cpp",
        "src/frame_columns.cpp",
        "src/frame_encode.cpp",
        "src/frame_labels.cpp",
        "src/frame_parse.cpp",
        "src/frame_scan.cpp",
        "src/frame_split.cpp",
        "src/ndarray_encode.cpp",
        "src/ndarray_parse.cpp",
        "src/number_parse.cpp",
        "src/shortest.cpp",
        "src/simdjson_unit.cpp"
      ],
      "include_dirs": ["<(simdjson_dir)"],
      "defines": [
        "NAPI_VERSION=8",
        "NAPI_DISABLE_CPP_EXCEPTIONS",
        "SIMDJSON_EXCEPTIONS=0"
      ],
      "cflags": ["-fvisibility=hidden"],
      "cflags!": ["-O2", "-O0"],
      "cflags_cc!": ["-std=gnu++0x", "-std=gnu++1y", "-std=gnu++14"],
      "cflags_cc": ["-std=c++17", "-O3", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra"],
      "xcode_settings": {
        "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
        "GCC_OPTIMIZATION_LEVEL": "3",
        "GCC_ENABLE_CPP_EXCEPTIONS": "NO",
        "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
        # The first with std::to_chars for doubles.
        "MACOSX_DEPLOYMENT_TARGET": "13.3"
      },
      "msvs_settings": { "VCCLCompilerTool": { "AdditionalOptions": ["/std:c++17"], "Optimization": 3 } }
    }
  ]
}
