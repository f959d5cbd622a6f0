// Package bench measures the whole program from outside, against the least a Go program can do
// (floor) and against the same instant server, as ratios within one run.
//
//	go test -run '^$' -bench . -benchtime 5x ./internal/tools/bench
//
// Each benchmark runs floor and adze in turn and reports the median of the ratios pair by pair. Its
// bars are those of README.md beside this file; they are read by people, never asserted.
package bench
