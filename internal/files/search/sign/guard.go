package sign

import (
	"runtime"
	"runtime/debug"
)

// guard survives that somebody cuts a table under its map: the answer is then the zero value, and
// all that is lost is what the table would have saved. The function it returns is to be deferred.
func guard[T any](answer *T) func() {
	was := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(was)
		problem := recover()
		if _, ok := problem.(runtime.Error); ok { // a fault, or a length that is zero of a sudden
			var zero T
			*answer = zero
		} else if problem != nil {
			panic(problem)
		}
	}
}
