package batch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"adze/internal/files/filelock"
)

// Folder is a folder of results whose tasks are done elsewhere.
type Folder struct {
	batch  *Batch
	unlock func()
}

// Collect takes the folder of a batch for what is done elsewhere.
func (b *Batch) Collect() (*Folder, error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	unlock, err := filelock.Try(filepath.Join(b.Out, "lock"))
	if err != nil {
		return nil, busy(b.Out, err)
	}
	if b.journal, err = openJournal(filepath.Join(b.Out, "results.jsonl")); err != nil {
		unlock()
		return nil, err
	}
	return &Folder{b, unlock}, nil
}

// Add keeps a result, and first its patch. One that is there already changes nothing; it says
// whether there was news.
func (f *Folder) Add(r Result, patch func(io.Writer) error) (news bool, err error) {
	if last, there := f.batch.journal.Last(r.Task); there && last.Ended.Equal(r.Ended) {
		return false, nil
	}
	path := filepath.Join(f.batch.Out, "patches", r.Task+".patch")
	if r.Patch == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of an earlier round
			return false, err
		}
		return true, f.batch.journal.Add(r)
	}
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	if err := errors.Join(patch(w), w.Sync(), w.Close()); err != nil {
		return false, fmt.Errorf("the patch of %s: %w", r.Task, err)
	}
	r.Patch = filepath.Join("patches", r.Task+".patch")
	return true, f.batch.journal.Add(r)
}

// Report sums up what is there.
func (f *Folder) Report() Report { return f.batch.report(0) }

// Close lets others have the folder.
func (f *Folder) Close() error {
	defer f.unlock()
	return f.batch.journal.Close()
}
