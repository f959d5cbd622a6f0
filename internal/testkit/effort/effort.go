// Package effort controls the duration of tests that could run for long: random ones, kills,
// floods, clusters and whole programs.
//
// ADZE_TESTS has three values: unset for development, "short" for .ci/run before a change lands,
// and "long" for one test by hand:
//
//	ADZE_TESTS=long go test -timeout 2h -v -run KilledAtAnyMoment ./internal/run
//
// A random test logs its seed; ADZE_SEED repeats it.
//
// Start reading at Rounds.
package effort

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// Variable is the name of the level's environment variable.
const Variable = "ADZE_TESTS"

const seedVariable = "ADZE_SEED"

// Level is the tests' effort.
type Level int

// In order of duration.
const (
	Usual Level = iota
	Short
	Long
)

// level panics on an unknown value, so that a misspelled "long" does not pass as a short run.
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

// Is reports whether the level is at least l.
func Is(l Level) bool { return level() >= l }

// Rounds returns the count for the current level.
func Rounds(usual, short, long int) int { return [...]int{usual, short, long}[level()] }

// Needs skips a test below level l.
func Needs(t testing.TB, l Level, why string) {
	t.Helper()
	if !Is(l) {
		t.Skipf("%s=%s runs it: %s", Variable, [...]string{"", "short", "long"}[l], why)
	}
}

// Seed returns ADZE_SEED's value, otherwise the given one, and logs it.
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
