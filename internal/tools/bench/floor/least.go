//go:build least

package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	adzerun "adze/internal/run"
	"adze/internal/sessiondb"
	"adze/session"
)

// begin is what one binary with all that adze does, and with a log of what happened, cannot do
// without: every package is linked and initialised, the store is opened, and a prompt and its
// answer are committed, as is each answer with calls before they are made, and what came of them
// before the model is told.
func begin(prompt string) (commit, end func()) {
	if len(os.Args) > 4 { // never so: it links the whole program
		os.Exit(adzerun.Main(os.Args[4:], os.Stdin, os.Stdout, os.Stderr))
	}
	ctx := context.Background()
	s, err := sessiondb.Open(ctx, filepath.Join(os.Getenv("ADZE_HOME"), "least", "sessions.db"), sessiondb.Options{})
	check(err)
	id := session.ID(time.Now().UTC().Format("20060102t150405.000000000"))
	commit = func() {
		e := session.Entry{Type: session.MessageEntry, Time: time.Now(), Data: []byte(`{"text":"` + prompt + `"}`)}
		check(s.Append(ctx, id, e, e))
	}
	commit()
	return commit, func() {
		commit()
		check(s.Close())
	}
}
