package proc

// selfPath names this very binary, also when its file was replaced by a newer version meanwhile.
func selfPath() string { return "/proc/self/exe" }
