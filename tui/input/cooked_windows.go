package input

import "io"

// waiting is 0: the console reports the Enter key as it is in every mode.
func waiting(io.Reader) int { return 0 }
