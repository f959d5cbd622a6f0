package cmd

import (
	"strings"
	"testing"
)

// TestUpgradeTellsHow gives the way for each place that a program is installed in.
func TestUpgradeTellsHow(t *testing.T) {
	const url = "https://example.org/adze/1.2.3"
	for _, c := range []struct{ program, url, want string }{
		{"/opt/homebrew/Cellar/adze/1.2.3/bin/adze", url, "brew upgrade adze"},
		{"C:/Users/Ann/scoop/apps/adze/current/adze.exe", url, "scoop update adze"},
		{"C:/Users/Ann/AppData/Local/Programs/adze/adze.exe", url, "install.ps1"},
		{"/usr/bin/adze", url, "deb, rpm or apk from " + url},
		{"/home/ann/.local/bin/adze", url, "--prefix '/home/ann/.local'"},
		{"/home/ann/adze", url, "new archive"},
		{"/nix/store/abc-adze-1.2.3/bin/adze", url, "Nix"},
		{"/home/ann/src/adze/adze", "", "git pull"},
	} {
		if got := UpgradeOf(c.program, c.url); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q does not say %q", c.program, got, c.want)
		}
	}
}
