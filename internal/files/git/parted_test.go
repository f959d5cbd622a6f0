package git

import "testing"

// TestParted: a branch is compared with where it parted from main, main with HEAD.
func TestParted(t *testing.T) {
	d := newDesk(t)
	d.sh("git init -q -b main 2>/dev/null; git checkout -q -B main; echo a > a; git add a; git commit -qm one")
	base, from, err := d.open().Parted(t.Context())
	if err != nil || from != "HEAD" || !IsHash(base) {
		t.Fatalf("on main: %s %s %v", base, from, err)
	}
	d.sh("git checkout -q -b side; echo b > b; git add b; git commit -qm two; git checkout -q main; echo c > c; git add c; git commit -qm three; git checkout -q side")
	got, from, err := d.open().Parted(t.Context())
	if err != nil || from != "main" || got != base {
		t.Errorf("on side: %s %s %v, want %s", got, from, err, base)
	}
}
