package sandbox

import (
	"strings"
	"testing"
)

func TestHintIsTheNextMove(t *testing.T) {
	for want, c := range map[string]struct {
		how        string
		restricted bool
	}{
		"install bubblewrap":          {"ns: write uid_map: operation not permitted; bwrap: bubblewrap is not installed", true},
		"profile adze /opt/adze flag": {"ns: /: permission denied; bwrap: setting up uid map: Permission denied", true},
		"systempaths=unconfined":      {"ns: it could not be made: /proc: operation not permitted; bwrap: no", false},
		"virtual machine":             {"there is none for this system", false},
	} {
		if got := hint(Report{Level: NoLevel, Means: None, How: c.how}, c.restricted, "/opt/adze"); !strings.Contains(got, want) {
			t.Errorf("for %q: %q, want %q", c.how, got, want)
		}
	}
	if got := hint(Report{Level: Full}, true, ""); got != "" {
		t.Errorf("full needs nothing: %q", got)
	}
}
