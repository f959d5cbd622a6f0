package sandbox_test

import (
	"testing"

	"adze/internal/sandbox"
)

func TestLevelOfEachMeans(t *testing.T) {
	for means, want := range map[sandbox.Means]sandbox.Level{sandbox.Namespaces: sandbox.Full, sandbox.Bubblewrap: sandbox.Full, sandbox.Landlock: sandbox.Degraded} {
		t.Run(string(means), func(t *testing.T) {
			b := newBench(t, means)
			r, err := b.box.Level(t.Context())
			t.Log(r, err)
			if err != nil || r.Level != want {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
