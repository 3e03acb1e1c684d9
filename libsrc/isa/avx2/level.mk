FLAGS_avx2 := -mavx2 -mfma -mf16c
HEADER_avx2 := immintrin.h
