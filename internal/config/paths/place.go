// Package paths locates a user's files: configuration, state and full outputs.
//
// The one rule: paths are absolute, and the same for a run and for a command that examines it.
//
// Start reading at FromEnv. Known limits: none that are known.
package paths

import (
	"cmp"
	"os/user"
	"path/filepath"
	"runtime"

	"github.com/adrg/xdg"
)

const keysFile = "keys.json"

// Served is the folder in State with the address and token of each adze serve.
const Served = "serve"

// Places holds the user's folders.
type Places struct {
	Config string // read only
	State  string // sessions and the job ledger
	Spill  string // full outputs of truncated calls, by session
	Undo   string // snapshots around calls, by folder
	Keys   string // file with stored keys
	// Managed is the machine owner's file. No variable can move it: that would let users evade it.
	Managed string
}

// Jobs returns the folder with a record of each running call.
func (p Places) Jobs() string { return filepath.Join(p.State, "jobs") }

// FromEnv follows the XDG folders; $ADZE_HOME puts everything in one folder, for tests and portable
// use.
func FromEnv(getenv func(string) string) Places {
	if home := Absolute(getenv("ADZE_HOME")); home != "" {
		return Places{Config: home, State: filepath.Join(home, "state"), Spill: filepath.Join(home, "state", "output"), Undo: filepath.Join(home, "state", "undo"), Keys: filepath.Join(home, "state", keysFile), Managed: managed()}
	}
	stateHome, configHome := xdg.StateHome, xdg.ConfigHome
	if getenv("HOME") == "" { // as under cron, where the root folder would be used
		if u, err := user.Current(); err == nil {
			stateHome = cmp.Or(getenv("XDG_STATE_HOME"), filepath.Join(u.HomeDir, ".local", "state"))
			configHome = cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(u.HomeDir, ".config"))
		}
	}
	state := Absolute(filepath.Join(stateHome, "adze"))
	return Places{Config: Absolute(filepath.Join(configHome, "adze")), State: state, Spill: filepath.Join(state, "output"), Undo: filepath.Join(state, "undo"), Keys: filepath.Join(state, keysFile), Managed: managed()}
}

func managed() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/adze/config.json"
	case "windows":
		return `C:\ProgramData\adze\config.json`
	}
	return "/etc/adze/config.json"
}

// Absolute makes dir absolute relative to the working directory, since rules about paths need
// absolute ones. If that is unknown, it returns dir, and opening it will report the error.
func Absolute(dir string) string {
	if dir == "" {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
