//go:build !windows

package text

// codePage knows none: programs write UTF-8 or Latin-1 here.
func codePage([]byte) (Encoding, string) { return "", "" }
