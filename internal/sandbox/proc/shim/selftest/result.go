// Package selftest attempts forbidden actions from inside a sandbox.
//
// A self-test starts this program in a sandbox, with Word as first argument and attempts after it.
// Each attempt writes a line with its result. It is part of the shim, because the shim takes over
// before everything else and the sandbox may hold no other program.
//
// The one rule: a successful attempt is reported, and attempts act only on objects made for the
// test.
//
// Start reading at Main. Rules of this package: those of package shim.
package selftest

import "strings"

// Word is the hidden first argument that makes this binary run attempts.
const Word = "__attempt"

// Result is one output line.
type Result struct {
	Name   string
	Held   bool
	Detail string // why it was refused
}

// Fail makes the exit code 1 regardless of other attempts.
const Fail = "fail"

// ParseResult parses an output line.
func ParseResult(line string) (Result, bool) {
	verdict, rest, _ := strings.Cut(line, " ")
	name, detail, _ := strings.Cut(rest, " ")
	return Result{Name: name, Held: verdict == "held", Detail: detail}, name != "" && (verdict == "held" || verdict == "escaped")
}
