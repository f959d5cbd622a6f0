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

// begin does the minimum for a binary with all of adze's packages and a log: it opens the store and
// commits a prompt and its answer, each answer with calls before they run, and their results before
// the model sees them.
func begin(prompt string) (commit, end func()) {
	if len(os.Args) > 4 { // never true: it links the whole program
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
