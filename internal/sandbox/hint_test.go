package sandbox

import (
	"os"
	"strings"
	"testing"
)

func TestHintIsTheNextMove(t *testing.T) {
	for want, c := range map[string]struct {
		how        string
		restricted bool
	}{
		"/opt/adze doctor --apparmor | sudo tee /etc/apparmor.d/adze | sudo apparmor_parser -r": {"ns: /: permission denied", true},
		"systempaths=unconfined": {"ns: it could not be made: /proc: operation not permitted", false},
		"virtual machine":        {"there is none for this system", false},
	} {
		if got := hint(Report{Level: NoLevel, Technique: None, Explanation: c.how}, c.restricted, "", "/opt/adze"); !strings.Contains(got, want) {
			t.Errorf("for %q: %q, want %q", c.how, got, want)
		}
	}
	if got := hint(Report{Level: Degraded, Technique: Landlock, Explanation: "ns: no space left on device"}, false, "user.max_user_namespaces=15000", ""); !strings.Contains(got, "sudo sysctl -w user.max_user_namespaces=15000") {
		t.Errorf("a setting that is off: %q", got)
	}
	if got := hint(Report{Level: Full}, true, "", ""); got != "" {
		t.Errorf("full needs nothing: %q", got)
	}
}

// The package brings the profile for the path that it installs adze at.
func TestThePackagedProfileIsTheOneThatDoctorWrites(t *testing.T) {
	packaged, err := os.ReadFile("../../deploy/apparmor/adze")
	if err != nil || string(packaged) != Profile("/usr/bin/adze") {
		t.Errorf("%v\n%s", err, packaged)
	}
	if got := Profile("/home/a b/{x}*"); !strings.Contains(got, `"/home/a b/\{x\}\*"`) {
		t.Errorf("a path is a pattern in a profile: %s", got)
	}
}
