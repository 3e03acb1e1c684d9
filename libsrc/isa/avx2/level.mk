FLAGS_avx2 := -mavx2 -mfma -mf16c
