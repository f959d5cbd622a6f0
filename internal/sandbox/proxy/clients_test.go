package proxy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/proxytest"
)

// TestRealClients lets the programs that fetch packages fetch one each, from names that exist only
// behind the proxy. What is not installed is skipped.
func TestRealClients(t *testing.T) {
	home := t.TempDir()
	site := proxytest.New(t, home)
	d := open(t, site.Address, func(at Target) error {
		if !strings.HasSuffix(at.Host, ".test") || at.Port != 443 {
			return errNotAllowed
		}
		return nil
	})
	environment := append(Environment(d.address), site.Environment()...)
	environment = append(environment, "PATH="+os.Getenv("PATH"), "HOME="+home, "GOMODCACHE="+filepath.Join(home, "mod"), "GOCACHE="+filepath.Join(home, "build"),
		"npm_config_cache="+filepath.Join(home, "npm"), "PIP_CACHE_DIR="+filepath.Join(home, "pip"))
	for _, f := range proxytest.Fetches() {
		t.Run(f.Program, func(t *testing.T) {
			if _, err := exec.LookPath(f.Program); err != nil {
				t.Skip(f.Program + " is not installed")
			}
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "sh", "-c", f.Command)
			cmd.Dir, cmd.Env = dir, environment
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if info, err := os.Stat(filepath.Join(dir, f.Made)); err != nil || info.Size() == 0 {
				t.Errorf("%s was not fetched: %v", f.Made, err)
			}
		})
	}
}
