// Package gctuning lets a program that needs little memory collect its garbage less often.
//
// By itself Go collects whenever 4 MB are in use, or twice what lives: a run of some turns then
// spends a tenth of its processor time on that, and touches more memory for it than it frees. So as
// long as little lives, 7 MB may be in use, and 10 from the second collection on.
//
// By then at the latest a run is under way, and the pages of the program's file that only its start
// needed are let go of; and again where an interface waits for its user (Rest).
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
	// easyPercent collects when 7 MB are in use (runtime/debug.SetGCPercent): a start makes nearly
	// 4, and a message with some calls 2.
	easyPercent = 175
	// usualPercent is Go's own.
	usualPercent = 100
	// least is what easyPercent makes of Go's 4 MB.
	least = 4 << 20 * easyPercent / 100
	// roomy is how many bytes may be in use after the second collection: as many as usualPercent
	// makes of what lives after some hundred turns, so that the most that a long run takes stays.
	roomy = 10 << 20
)

// Ease begins. The later collections end by themselves, for good, with the first collection that
// finds more than a little. With the second one it calls underWay, which may have been called
// before.
func Ease(underWay func()) {
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

// percentFor is the percentage with which the next collection comes when roomy bytes are in use,
// for so many bytes that live; usualPercent where that would be sooner than by itself.
func percentFor(live uint64) int {
	const most = roomy * 100 / (4 << 20) // Go never collects before 4 MB times this
	return int(min(max(roomy*100/max(live, 1), 100+usualPercent)-100, most))
}

// ForgetStart lets go of the pages of the program's file, for a run that goes on: to get back those
// that are needed again takes a few milliseconds.
func ForgetStart() { forgetStart() }

// Rest gives back what a process that has nothing to do does not need: garbage, and the pages of
// the program's file. It takes some milliseconds, and what is needed again comes back.
func Rest() {
	debug.FreeOSMemory()
	forgetStart()
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
