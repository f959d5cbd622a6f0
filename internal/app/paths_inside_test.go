package app

import (
	"os/user"
	"path/filepath"
	"testing"
)

// Under cron and in some containers nothing says where the person's home is.
func TestPlacesWithoutAHome(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Skip("this user has no entry: ", err)
	}
	at := userPlaces(func(string) string { return "" })
	if want := filepath.Join(u.HomeDir, ".local", "state", "adze"); at.state != want {
		t.Errorf("state in %s, want %s", at.state, want)
	}
	if want := filepath.Join(u.HomeDir, ".config", "adze"); at.config != want {
		t.Errorf("configuration in %s, want %s", at.config, want)
	}
	set := map[string]string{"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}
	at = userPlaces(func(name string) string { return set[name] })
	if at.state != "/s/adze" || at.config != "/c/adze" {
		t.Errorf("places %+v, want those that the variables name", at)
	}
}
