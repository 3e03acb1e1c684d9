FLAGS_neon :=
