package sandbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"adze/internal/sandbox"
)

func TestLevelOfEachMeans(t *testing.T) {
	for means, want := range map[sandbox.Technique]sandbox.Level{sandbox.Namespaces: sandbox.Full, sandbox.Landlock: sandbox.Degraded} {
		t.Run(string(means), func(t *testing.T) {
			b := newBench(t, means)
			r, err := b.box.Level(t.Context())
			if err != nil || r.Level != want {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestTheLevelIsKeptUntilTheMachineChanges(t *testing.T) {
	b := newBench(t)
	if _, known := b.box.KnownReport(); known {
		t.Fatal("a level is known before anything was tested")
	}
	r, err := b.box.Level(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, known := b.sandbox().KnownReport(); !known || !reflect.DeepEqual(again, r) {
		t.Errorf("the next run knows %+v, want %+v", again, r)
	}
	file := filepath.Join(b.state, "sandbox", "level.json")
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(data, []byte("uid "), []byte("uid 1"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, known := b.sandbox().KnownReport(); known {
		t.Error("the level of another user is believed")
	}
	if left, _ := filepath.Glob(filepath.Join(b.state, "sandbox", "test-*")); len(left) > 0 {
		t.Errorf("the self-test left %v", left)
	}
}
