package print

// Line encodes v on one line without any control byte, for whatever else the program writes for scripts.
func Line(v any) string { return encode(v) }
