package paths

import (
	"os/user"
	"path/filepath"
	"testing"
)

// Under cron and in some containers nothing says where the user's home is.
func TestPlacesWithoutAHome(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Skip("this user has no entry: ", err)
	}
	at := FromEnv(func(string) string { return "" })
	if want := filepath.Join(u.HomeDir, ".local", "state", "adze"); at.State != want {
		t.Errorf("state in %s, want %s", at.State, want)
	}
	if want := filepath.Join(u.HomeDir, ".config", "adze"); at.Config != want {
		t.Errorf("configuration in %s, want %s", at.Config, want)
	}
	set := map[string]string{"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}
	at = FromEnv(func(name string) string { return set[name] })
	if at.State != "/s/adze" || at.Config != "/c/adze" {
		t.Errorf("places %+v, want those that the variables name", at)
	}
}
