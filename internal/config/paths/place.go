// Package paths is where adze keeps what is a user's: configuration, state, and whole outputs.
//
// The one rule: a place is absolute, and the same for a run and for a command that looks at it.
//
// Start reading at Of. Known limits: none that are known.
package paths

import (
	"cmp"
	"os/user"
	"path/filepath"
	"runtime"

	"github.com/adrg/xdg"
)

const keysFile = "keys.json"

// Served is the folder in State where the address of each adze serve stands, with its token.
const Served = "serve"

// Places are the folders of this user that adze uses.
type Places struct {
	Config string // configuration, read only
	State  string // sessions and the job ledger
	Spill  string // whole outputs of calls that were cut, by session
	Undo   string // states of files around calls, by folder
	Keys   string // the file of keys that were given to adze
	// Managed is the file of the machine's owner. No variable moves it: who could, could do without
	// it.
	Managed string
}

// Jobs is the folder with a record of each call that runs.
func (p Places) Jobs() string { return filepath.Join(p.State, "jobs") }

// Of follows the XDG folders; $ADZE_HOME puts all of it in one place, for tests and portable use.
func Of(getenv func(string) string) Places {
	if home := Absolute(getenv("ADZE_HOME")); home != "" {
		return Places{Config: home, State: filepath.Join(home, "state"), Spill: filepath.Join(home, "state", "output"), Undo: filepath.Join(home, "state", "undo"), Keys: filepath.Join(home, "state", keysFile), Managed: managed()}
	}
	stateHome, configHome := xdg.StateHome, xdg.ConfigHome
	if getenv("HOME") == "" { // as under cron, where the root folder would be taken for it
		if u, err := user.Current(); err == nil {
			stateHome = cmp.Or(getenv("XDG_STATE_HOME"), filepath.Join(u.HomeDir, ".local", "state"))
			configHome = cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(u.HomeDir, ".config"))
		}
	}
	state := Absolute(filepath.Join(stateHome, "adze"))
	return Places{Config: Absolute(filepath.Join(configHome, "adze")), State: state, Spill: filepath.Join(state, "output"), Undo: filepath.Join(state, "undo"), Keys: filepath.Join(state, keysFile), Managed: managed()}
}

// managed is where the owner of a machine says what holds for all on it.
func managed() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/adze/config.json"
	case "windows":
		return `C:\ProgramData\adze\config.json`
	}
	return "/etc/adze/config.json"
}

// Absolute takes a relative folder from where adze was started: rules about paths have no other
// meaning. Where even that is unknown, the folder stays as it is and opening it tells why.
func Absolute(dir string) string {
	if dir == "" {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
