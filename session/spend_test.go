package session_test

import (
	"testing"

	"adze/session"
)

// What is asked beside the turns counts with them.
func TestSpendCounts(t *testing.T) {
	s := session.New(newRig(t).config)
	s.Spend("small", "m", session.Usage{Input: 30, Output: 5})
	s.Spend("small", "m", session.Usage{Input: 1})
	used := s.Ledger().Used
	if len(used) != 1 || used[0].Model != "small/m" || used[0].Requests != 2 || used[0].Usage.Input != 31 || used[0].Usage.Output != 5 {
		t.Errorf("%+v", used)
	}
}
