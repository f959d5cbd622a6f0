package proc

// selfPath returns a path to this binary, even if a newer version has replaced its file.
func selfPath() string { return "/proc/self/exe" }
