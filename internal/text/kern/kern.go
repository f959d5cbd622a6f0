// Package kern searches text many bytes at a time with the processor's vector instructions.
//
// The one rule: each kernel has a plain Go version with the same results, and tests compare the
// two. Kernels return candidates, in order and without omissions; the caller checks them.
//
// Start reading at Pair.Find, the simplest: two bytes at fixed distances, used to find a literal.
// Window finds three consecutive bytes from three sets, for up to eight windows at once; Quads
// marks four bytes in the same way; Class marks the bytes in a set, and Runs finds consecutive
// ones. vectors_amd64.s has the kernels for AVX2 (with BMI1), vectors_arm64.s those for NEON. Other
// processors use the Go versions.
//
// A kernel fills a buffer and returns the offset to continue at. A call processes at most maxBlock
// bytes, because the Go scheduler cannot preempt it.
//
// Known limits: the NEON kernels were only run in an emulator (GOARCH=arm64 go test -c, then
// qemu-aarch64), so their speed is unknown. A text may have at most 4 GiB. Kernels read up to Slack
// bytes past the text if its capacity allows, and otherwise leave the last bytes to the slower Go
// version.
package kern

// Slack is the spare capacity in bytes that lets kernels process a whole text.
const Slack = 64

// maxBlock bounds the bytes processed by one kernel call.
const maxBlock = 64 << 10

// width is the number of places tested at once; a kernel stops if fewer are free in the buffer.
const width = 32

// Batch is a good size for the buffer of places.
const Batch = 256

// Vectors reports whether this processor supports the kernels.
func Vectors() bool { return vectors }

// upTo returns the end for a kernel that starts at from and reads reach bytes at each place: limit,
// rounded up to a multiple of the width if the text's capacity allows, else down.
func upTo(text []byte, from, limit, reach int) int {
	limit = min(limit, from+maxBlock)
	blocks := min((limit-from+width-1)/width, (cap(text)-from-reach+1)/width)
	return from + max(blocks, 0)*width
}

// within drops places at or past limit, which a kernel may return because it tests many at once.
func within(places []uint32, limit int) int {
	n := len(places)
	for n > 0 && int(places[n-1]) >= limit {
		n--
	}
	return n
}
