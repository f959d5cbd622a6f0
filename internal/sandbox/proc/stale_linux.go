package proc

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Stale counts the records of calls whose adze no longer runs. It ends nothing: that is Reap's.
func (l *Ledger) Stale() (int, error) {
	if l == nil {
		return 0, nil
	}
	names, err := readNames(l.dir)
	stale := 0
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(l.dir, name))
		if err != nil {
			continue // its adze has just removed it
		}
		var e entry
		if json.Unmarshal(data, &e) != nil || !e.Owner.alive() {
			stale++
		}
	}
	return stale, err
}
