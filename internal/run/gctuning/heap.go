// Package gctuning makes garbage collection less frequent in a program with little memory.
//
// By default Go collects at 4 MB, or at twice the live heap: a run with a few turns then spends a
// tenth of its processor time there and touches more memory than it frees. While the live heap is
// small, this package permits 7 MB, and 10 MB from the second collection on.
//
// At the second collection a run is under way, and pages of the executable that only the start
// needed are released; again while an interface waits for its user (Rest).
//
// The one rule: GOGC and GOMEMLIMIT take precedence.
//
// Start reading at Start.
//
// Known limits: it affects the whole process and starts once. Memory outside Go's heap, such as a
// database's pages, is not counted.
package gctuning

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// easyPercent collects at 7 MB (runtime/debug.SetGCPercent): a start allocates nearly 4, and a
	// message with some calls 2.
	easyPercent = 175
	// usualPercent is Go's default.
	usualPercent = 100
	// least is the resulting threshold from Go's 4 MB.
	least = 4 << 20 * easyPercent / 100
	// roomy is the threshold in bytes after the second collection. With usualPercent a heap reaches
	// it after some hundred turns, so a long run's maximum does not grow.
	roomy = 10 << 20
)

// Start starts the tuning. It ends for good with the first collection that finds a larger live
// heap. At the second collection it calls underWay, which may have been called before.
func Start(underWay func()) {
	obeys := os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != ""
	if !obeys {
		debug.SetGCPercent(easyPercent)
	}
	await(func() bool {
		await(func() bool {
			underWay()
			return false
		})
		return false
	})
	if obeys {
		return
	}
	percent, collections := easyPercent, 0
	await(func() bool {
		if collections++; collections == 1 && next() <= least {
			return true
		}
		percent = percentFor(next() * 100 / (100 + uint64(percent)))
		debug.SetGCPercent(percent)
		return percent > usualPercent
	})
}

// percentFor returns the percentage for which the next collection comes at roomy bytes with this
// live heap, but at least usualPercent.
func percentFor(live uint64) int {
	const most = roomy * 100 / (4 << 20) // Go's minimum is 4 MB times this
	return int(min(max(roomy*100/max(live, 1), 100+usualPercent)-100, most))
}

// ForgetStart releases the executable's pages in a continuing run. Reloading the needed ones takes
// a few milliseconds.
func ForgetStart() { forgetStart() }

// ReleaseMemory releases memory of an idle process: garbage and the executable's pages. It takes
// some milliseconds; needed pages are reloaded.
func ReleaseMemory() {
	debug.FreeOSMemory()
	forgetStart()
}

// next returns the heap size at the next collection. runtime/metrics has it too, but would build
// its tables at every start, also in the process between adze and each command.
func next() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NextGC
}

// await calls again after each collection until it returns false.
func await(again func() bool) {
	mark := new([2]*byte) // with pointers, so that it does not share a block with live objects
	runtime.AddCleanup(mark, func(again func() bool) {
		if again() {
			await(again)
		}
	}, again)
}
