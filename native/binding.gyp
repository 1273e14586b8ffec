{
  "variables": { "jpeg%": 0 },
  # What all targets share.
  "target_defaults": {
    "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS"],
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
    # Hardening, as distributions build: canaries, checked libc calls (FORTIFY_SOURCE), and tables of
    # addresses that are read-only
    # once loaded. `-U` first: distributions' compilers define it by themselves, as another level.
    "conditions": [
      [
        "OS=='linux'",
        {
          "cflags_cc": ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"],
          "ldflags": ["-Wl,-z,relro,-z,now", "-Wl,-z,noexecstack"]
        }
      ],
      ["OS=='mac'", {
        "xcode_settings": { "OTHER_CFLAGS": ["-fstack-protector-strong", "-fconstexpr-steps=100000000"] }
      }]
    ],
    "msvs_settings": { "VCCLCompilerTool": { "AdditionalOptions": ["/std:c++17"], "Optimization": 3 } }
  },
  "targets": [
    {
      "target_name": "serving_native",
      "sources": [
        "src/addon.cpp",
        "src/boundary.cpp",
        "src/csv_parse.cpp",
        "src/frame_addon.cpp",
        "src/frame_columns.cpp",
        "src/frame_encode.cpp",
        "src/frame_labels.cpp",
        "src/frame_pack.cpp",
        "src/frame_parse.cpp",
        "src/frame_scan.cpp",
        "src/frame_split.cpp",
        "src/async_addon.cpp",
        "src/json_scan.cpp",
        "src/memory_addon.cpp",
        "src/ndarray_encode.cpp",
        "src/ndarray_parse.cpp",
        "src/number_parse.cpp",
        "src/parquet_addon.cpp",
        "src/parquet_file.cpp",
        "src/parquet_footer.cpp",
        "src/parquet_read.cpp",
        "src/parquet_write.cpp",
        "src/powers_of_ten.cpp",
        "src/reduce_addon.cpp",
        "src/shortest.cpp",
        "src/simdjson_unit.cpp",
        "src/snappy.cpp"
      ],
      "include_dirs": ["<(simdjson_dir)"],
      "defines": ["SIMDJSON_EXCEPTIONS=0"]
    },
    {
      "target_name": "serving_image",
      "sources": ["image/addon.cpp", "image/resample.cpp"]
    }
  ],
  # build.mjs sets it where libjpeg-turbo and its headers are installed.
  "conditions": [
    [
      "jpeg==1",
      {
        "targets": [
          {
            "target_name": "serving_jpeg",
            "sources": ["image/addon.cpp", "image/jpeg.cpp", "image/resample.cpp"],
            "defines": ["SERVING_JPEG"],
            "libraries": ["-ljpeg"]
          }
        ]
      }
    ]
  ]
}
