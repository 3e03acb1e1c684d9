FLAGS_sse41 := -msse4.1
