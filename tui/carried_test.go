package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"adze/session/api"
)

// A consent that cannot be kept is told, and one that is given goes on in the same session with
// what it allows.
func TestAConsentIsKeptOrTold(t *testing.T) {
	for _, fails := range []bool{true, false} {
		p := newPlayer(t, nil)
		*p.m.ports = p.ports()
		p.m.info.Session = "s1"
		asked := 0
		p.m.ports.Consent = func(_ context.Context, i api.ProjectProgram, allow bool) error {
			if asked++; i.ID != "tool:lint" || i.Hash != "12ab" || !allow {
				t.Errorf("asked for %+v, %v", i, allow)
			}
			if fails {
				return errors.New("the disk is full")
			}
			return nil
		}
		for _, s := range []string{"type /trust", "key enter", "wait 1s", "key down down down", "key enter", "key enter", "wait 1s"} {
			verb, rest, _ := strings.Cut(s, " ")
			p.step(verb, rest)
		}
		if asked != 0 {
			t.Error("the first answer is to leave it")
		}
		for _, s := range []string{"type /trust", "key enter", "wait 1s", "key down down down", "key enter", "key down enter", "wait 1s"} {
			verb, rest, _ := strings.Cut(s, " ")
			p.step(verb, rest)
		}
		if asked != 1 || strings.Contains(p.dump(), "error: the disk is full") != fails || (p.m.stopper.next == api.Next{Session: "s1"}) == fails {
			t.Errorf("fails %v: asked %d times, next %+v\n%s", fails, asked, p.m.stopper.next, p.dump())
		}
	}
}
