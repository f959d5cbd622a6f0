package namespace

import (
	"reflect"
	"testing"
)

func TestFieldsAreReadBack(t *testing.T) {
	for name, b := range map[string]Box{
		"nothing": {},
		"all": {
			NewNamespaces: true, IDs: IDs{Set: true, UID: 1000, GID: 100}, Filter: OwnNet, Door: 8, Asks: 9, Memory: 1 << 40, Processes: 7,
			Rules: Rules{Read: []string{"/usr", ""}, Write: []string{"/w x"}, Descriptor: 5},
			Mounts: []Mount{
				{Kind: Writable, Path: "/a b", Source: "/c d", Dev: 1, Ino: 1<<64 - 1, Size: 3},
				{Kind: View, Path: "/w", Source: "/w", Upper: "/state/view 1", Dev: 1, Ino: 2},
				{Kind: Locked, Path: "/w/.git\n"}, {Kind: Proc, Path: "/proc"},
				{Kind: EmptyFolder, Path: "/home"}, {Kind: Link, Path: "/home/a", Source: "../b c"},
			},
		},
	} {
		if got, ok := Parse(b.Fields()); !ok || !reflect.DeepEqual(got, b) {
			t.Errorf("%s: read back as %+v, %v", name, got, ok)
		}
	}
}

func TestParseRefusesRubbish(t *testing.T) {
	for _, f := range []string{"", "?", "w", "w1 2 3 4", "wx 2 3 1 0 /", "w1 2 3 -1 0 /", "w1 2 3 2 0 /", "w1 2 3 1 1 /", "z0 0 0 1 0 /", "F", "Fnn", "I1", "Ia 2", "I1 b", "Mx", "N-1", "Ax"} {
		if b, ok := Parse([]string{"O", f}); ok {
			t.Errorf("%q is read as %+v", f, b)
		}
	}
}
