// Package effort says how far the tests go that could go on for long: random ones, kills, floods,
// clusters and whole programs.
//
// The variable ADZE_TESTS has three values. Unset is what a developer waits for, "short" is what
// .ci/run does before a change lands, and "long" is a run of one test by hand:
//
//	ADZE_TESTS=long go test -timeout 2h -v -run KilledAtAnyMoment ./internal/run
//
// A random test writes its seed to its log; ADZE_SEED makes the same choices again.
//
// Start reading at Rounds.
package effort

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// Variable names what a run of the tests is.
const Variable = "ADZE_TESTS"

// seedVariable names the seed that random tests take.
const seedVariable = "ADZE_SEED"

// Level is how far tests go.
type Level int

// The levels, in the order of the time that they take.
const (
	Usual Level = iota
	Short
	Long
)

// level panics on a value that it does not know: a run that means to be long must not pass as a
// short one.
func level() Level {
	switch value := os.Getenv(Variable); value {
	case "":
		return Usual
	case "short":
		return Short
	case "long":
		return Long
	default:
		panic(fmt.Sprintf("%s=%s: it is short, long, or unset", Variable, value))
	}
}

// Is reports whether the tests go at least as far as l.
func Is(l Level) bool { return level() >= l }

// Rounds returns the one of three counts that is wanted.
func Rounds(usual, short, long int) int { return [...]int{usual, short, long}[level()] }

// Needs skips a test that is of no use, or takes too long, below l.
func Needs(t testing.TB, l Level, why string) {
	t.Helper()
	if !Is(l) {
		t.Skipf("%s=%s runs it: %s", Variable, [...]string{"", "short", "long"}[l], why)
	}
}

// Seed returns the seed that ADZE_SEED sets, or else the given one, and logs it.
func Seed(t testing.TB, seed uint64) uint64 {
	t.Helper()
	if text := os.Getenv(seedVariable); text != "" {
		set, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		seed = set
	}
	t.Logf("%s=%d makes the same choices again", seedVariable, seed)
	return seed
}
