package undo

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/osfile/atomicfile"
)

// A Stage is the progress of an undo. The journal is a file in the store's folder, named by the
// stage:
//
//	plan-ID     the plan; some steps may be done
//	result-ID   the result; all steps are done
//
// Apply writes the plan before the first step and the result after the last, then removes the plan.
// The result stays until its reader has stored it elsewhere and calls Discard. So a process may be
// killed at any moment, and the next one knows the state on disk.
type Stage int

const (
	NotBegun Stage = iota // no step was done, or the result was discarded
	Applying              // some steps may be done; Recover does the rest
	Applied               // all steps are done
)

// journal is the path of the store's folder, which holds the journal files.
type journal string

// Journal returns an undo's stage, and its result if Applied.
func (j journal) Journal(id string) (Stage, Result, error) {
	var r Result
	err := readJournal(j.resultPath(id), &r)
	if err == nil {
		return Applied, r, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return NotBegun, r, err
	}
	_, err = os.Stat(j.planPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return NotBegun, r, nil
	}
	return Applying, r, err
}

// Discard removes an undo's result from the journal.
func (j journal) Discard(id string) error {
	err := os.Remove(j.resultPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Results lists the undos with a result in the journal.
func (j journal) Results() (ids []string) {
	found, _ := filepath.Glob(j.resultPath("*")) // the pattern is well-formed
	for _, path := range found {
		ids = append(ids, strings.TrimPrefix(filepath.Base(path), "result-"))
	}
	return ids
}

func (j journal) planPath(id string) string   { return filepath.Join(string(j), "plan-"+id) }
func (j journal) resultPath(id string) string { return filepath.Join(string(j), "result-"+id) }

func (w *Workspace) writeJournal(path string, v any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil { // not JSON: names need not be UTF-8
		return err
	}
	w.moment()
	err := atomicfile.Write(path, b.Bytes())
	w.moment()
	return err
}

// endJournal replaces an undo's plan by its result.
func (w *Workspace) endJournal(r Result) error {
	if err := w.writeJournal(w.resultPath(r.ID), r); err != nil {
		return fmt.Errorf("write what came of the undo: %w", err)
	}
	err := os.Remove(w.planPath(r.ID))
	w.moment()
	return err
}

func readJournal(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func readPlan(path string) (p Plan, err error) {
	err = readJournal(path, &p)
	if err == nil && filepath.Base(path) != "plan-"+p.ID {
		err = fmt.Errorf("%s: the plan has another name", path)
	}
	return p, err
}
