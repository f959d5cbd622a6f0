package app

import (
	"cmp"
	"os/user"
	"path/filepath"

	"github.com/adrg/xdg"
)

// places are the folders of this user that adze uses.
type places struct {
	config string // configuration, read only
	state  string // sessions and the job ledger
	spill  string // whole outputs of calls that were cut, by session
}

// userPlaces follows the XDG folders; $ADZE_HOME puts all of it in one place, for tests and portable use.
func userPlaces(getenv func(string) string) places {
	if home := absolute(getenv("ADZE_HOME")); home != "" {
		return places{config: home, state: filepath.Join(home, "state"), spill: filepath.Join(home, "state", "output")}
	}
	stateHome, configHome := xdg.StateHome, xdg.ConfigHome
	if getenv("HOME") == "" { // as under cron, where the root folder would be taken for it
		if u, err := user.Current(); err == nil {
			stateHome = cmp.Or(getenv("XDG_STATE_HOME"), filepath.Join(u.HomeDir, ".local", "state"))
			configHome = cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(u.HomeDir, ".config"))
		}
	}
	state := absolute(filepath.Join(stateHome, "adze"))
	return places{config: absolute(filepath.Join(configHome, "adze")), state: state, spill: filepath.Join(state, "output")}
}

// absolute takes a relative folder from where adze was started: rules about paths have no other meaning.
// Where even that is unknown, the folder stays as it is and opening it tells why.
func absolute(dir string) string {
	if dir == "" {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
