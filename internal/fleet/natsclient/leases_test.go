package natsclient

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestTheTimeOfALeaseIsASetting(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "6s": 6 * time.Second, "0": -1, "soon": -1} {
		env := func(name string) string {
			if name == "ADZE_NATS_LEASE" {
				return text
			}
			return ""
		}
		if got := FromEnvironment(Options{}, env).Lease; got != want {
			t.Errorf("%q is %v", text, got)
		}
		if got := FromEnvironment(Options{Lease: time.Minute}, env).Lease; got != time.Minute {
			t.Errorf("%q changes what is given to %v", text, got)
		}
	}
	for _, short := range []time.Duration{-1, time.Second} {
		if _, err := Dial(t.Context(), Options{URL: "nats://127.0.0.1:1", Lease: short}); !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "ADZE_NATS_LEASE") {
			t.Errorf("%v: %v", short, err)
		}
	}
	usual := LeaseTimes{}.or(usualLease)
	if usual != (LeaseTimes{Live: 15 * time.Second, Renew: 5 * time.Second, Lose: 10 * time.Second, Gone: 24 * time.Hour}) {
		t.Errorf("usually %v", usual)
	}
	if got := (LeaseTimes{Lose: time.Hour}).or(6 * time.Second); got != (LeaseTimes{Live: 6 * time.Second, Renew: 2 * time.Second, Lose: time.Hour, Gone: 24 * time.Hour}) {
		t.Errorf("got %v", got)
	}
}
