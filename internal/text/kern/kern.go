// Package kern finds places in a text many bytes at a time, with the processor's vector
// instructions.
//
// The one rule: each kernel has a twin in plain Go that names the same places, and the tests hold
// them together. A kernel names candidates, in order and none left out; what they are candidates
// for, the caller finds out.
//
// Start reading at Pair.Find, the simplest: two bytes at fixed distances, which is how a literal is
// looked for. Window looks for three bytes in a row, each from a set of its own, for up to eight
// such windows at once; Quads marks four bytes in a row in the same way; Class marks the bytes of
// one set, and its Runs are where many of them follow one another. vectors_amd64.s has the kernels
// for AVX2 (with BMI1), vectors_arm64.s those for NEON. On every other processor the twins do the
// work.
//
// A kernel fills a buffer with places and returns where to go on, so that a text with many
// candidates costs no call for each. A call takes at most maxBlock bytes, because the Go scheduler
// cannot stop it.
//
// Known limits: those for NEON were run under an emulator alone (GOARCH=arm64 go test -c, then
// qemu-aarch64), so they are right but nobody has measured them. A text may have 4 GiB at most.
// Kernels read up to Slack bytes behind the text where its capacity allows it and leave the last
// bytes to the twin elsewhere, so texts without spare capacity are slower at their ends.
package kern

// Slack is the spare capacity, in bytes, behind a text that lets the kernels take all of it.
const Slack = 64

// maxBlock bounds what one call of a kernel takes, in bytes.
const maxBlock = 64 << 10

// width is how many places a kernel tests at once; a kernel stops when fewer are free for what it
// finds.
const width = 32

// Batch is a good size for the buffer of places.
const Batch = 256

// Vectors reports whether this processor runs the kernels and not their twins.
func Vectors() bool { return vectors }

// upTo returns where a kernel that starts at from and looks at reach bytes from each place has to
// stop: at most where limit lies, rounded up to its width where the text's capacity lets it read so
// far, else down.
func upTo(text []byte, from, limit, reach int) int {
	limit = min(limit, from+maxBlock)
	blocks := min((limit-from+width-1)/width, (cap(text)-from-reach+1)/width)
	return from + max(blocks, 0)*width
}

// within drops the places at and behind limit, which a kernel may name because it tests many at
// once.
func within(places []uint32, limit int) int {
	n := len(places)
	for n > 0 && int(places[n-1]) >= limit {
		n--
	}
	return n
}
