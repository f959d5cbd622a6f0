package pairing_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"adze/internal/editors/pairing"
)

func TestACertificateIsKeptAsLongAsItFits(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "new", "tls.pem"), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(now time.Time, hosts ...string) string {
		t.Helper()
		c, err := pairing.Certificate(path, hosts, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hosts {
			if err := c.Leaf.VerifyHostname(h); err != nil {
				t.Error(err)
			}
		}
		return pairing.Fingerprint(c)
	}
	first := of(now, "192.0.2.1", "box.local")
	if len(first) != 32*3-1 {
		t.Errorf("the fingerprint is %q", first)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if again := of(now.Add(300*24*time.Hour), "box.local"); again != first {
		t.Error("a certificate that fits was made anew")
	}
	other := of(now, "192.0.2.2")
	if other == first {
		t.Error("a certificate for another address was kept")
	}
	if later := of(now.Add(390*24*time.Hour), "192.0.2.2"); later == other {
		t.Error("a certificate that ends soon was kept")
	}
	if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	of(now, "192.0.2.2")
}
