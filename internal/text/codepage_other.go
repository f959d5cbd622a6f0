//go:build !windows

package text

// codePage finds nothing: here programs write UTF-8 or Latin-1.
func codePage([]byte) (Encoding, string) { return "", "" }
