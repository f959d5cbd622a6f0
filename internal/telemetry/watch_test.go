package telemetry_test

import (
	"reflect"
	"testing"

	"adze/internal/telemetry"
	"adze/session"
)

func TestNothingIsMadeWhereNobodyWatches(t *testing.T) {
	w, notes := telemetry.FromEnv(func(string) string { return "" }, "1")
	if w != nil || notes != nil {
		t.Fatal(w, notes)
	}
	next := func(session.Event) {}
	if got := w.Session("s", next); reflect.ValueOf(got).Pointer() != reflect.ValueOf(next).Pointer() {
		t.Error("events go through something")
	}
	if n := testing.AllocsPerRun(100, func() { w.Session("s", next); w.Close() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
