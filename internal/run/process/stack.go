package process

// stackNeed is how deep, in bytes, one prompt goes: through the command line, the loop and the
// store.
const stackNeed = 60 << 10

// MakeRoom grows the stack of the calling goroutine to 128 KiB at once, while there is next to
// nothing on it. A stack that grows as it is needed is copied at 8, 16, 32 and 64 KiB with
// everything then on it, which took one part in twenty of a run with one prompt. The frame alone
// makes the runtime do it; the body never runs, so that no page of it is touched before its time.
//
//go:noinline
func MakeRoom(really bool) byte {
	if !really {
		return 0
	}
	var frame [stackNeed]byte
	occupy(frame[:])
	return frame[0]
}

//go:noinline
func occupy(frame []byte) { frame[0]++ }
