package main

import (
	"os/exec"
	"testing"
)

// dpkg 1.21.22 sorts 0.10.0-rc.1-1 above 0.10.0-1, so that the release would be no upgrade.
func TestAPrereleaseComesBeforeItsRelease(t *testing.T) {
	for kind, want := range map[string]string{"deb": "0.10.0~rc.1", "rpm": "0.10.0~rc.1", "apk": "0.10.0_rc1"} {
		if got := prereleases[kind].Replace("0.10.0-rc.1"); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
		if got := prereleases[kind].Replace("0.10.0"); got != "0.10.0" {
			t.Errorf("%s: %s", kind, got)
		}
	}
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("there is no dpkg that could compare versions")
	}
	before := prereleases["deb"].Replace("0.10.0-rc.1") + "-1"
	if out, err := exec.Command(dpkg, "--compare-versions", before, "lt", "0.10.0-1").CombinedOutput(); err != nil {
		t.Errorf("%s is not before 0.10.0-1: %v %s", before, err, out)
	}
}
