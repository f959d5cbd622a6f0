// Package gctuning lets a program that needs little memory collect its garbage less often.
//
// By itself Go collects whenever 4 MB more are in use, also where hardly anything lives: a run of
// some turns then spends a tenth of its processor time on that, and touches more memory for it than
// it frees. So as long as little lives, 6 MB may come together.
//
// With the first collection a run is under way, and the pages of the program's file that only its
// start needed are let go of.
//
// The one rule: who sets GOGC or GOMEMLIMIT is obeyed.
//
// Start reading at Ease.
//
// Known limits: it is for the whole process, and is begun once. What lives outside of Go's heap,
// such as the pages of a database, is not counted.
package gctuning

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// easyPercent collects when 6 MB are in use, or two and a half times what lives
	// (runtime/debug.SetGCPercent).
	easyPercent = 150
	// usualPercent is Go's own.
	usualPercent = 100
	// least is what easyPercent makes of Go's 4 MB: from there on it is more than these, and too
	// much.
	least = 4 << 20 * easyPercent / 100
)

// Ease begins. The later collections end by themselves, for good, with the first collection that
// finds more than a little.
func Ease() {
	await(func() bool {
		forgetStart()
		return false
	})
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(easyPercent)
	await(func() bool {
		if next() <= least {
			return true
		}
		debug.SetGCPercent(usualPercent)
		return false
	})
}

// next is how many bytes may be in use until the next collection. Package runtime/metrics tells it
// too, but would make its tables at every start, also of the process between adze and each command.
func next() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NextGC
}

// await asks after each collection whether to go on asking.
func await(again func() bool) {
	mark := new([2]*byte) // pointers, so that it shares no room with what lives on
	runtime.AddCleanup(mark, func(again func() bool) {
		if again() {
			await(again)
		}
	}, again)
}
