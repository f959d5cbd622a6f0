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

// Stage is how far an undo came. Its journal is a file in the folder of the store, whose name says
// the stage:
//
//	plan-ID     the plan; some steps may be done
//	result-ID   what came of it; all steps are done
//
// Apply writes the plan before the first step and the result after the last one, and removes the
// plan then. The result stays until Discard, which its reader calls when the result is stored
// elsewhere. So a process may be killed at any moment and the next one knows what is on the disk.
type Stage int

// Stages of an undo.
const (
	NotBegun Stage = iota // no step was done, or the result was discarded
	Applying              // some steps may be done; Recover does the others
	Applied               // all steps are done
)

// journal is the folder in which it is kept, that of the store.
type journal string

// Journal tells how far an undo came, and what came of it when it is Applied.
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

// Discard removes the result of an undo from the journal.
func (j journal) Discard(id string) error {
	err := os.Remove(j.resultPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Results lists the undos whose results are in the journal.
func (j journal) Results() (ids []string) {
	found, _ := filepath.Glob(j.resultPath("*")) // the pattern is well-formed
	for _, path := range found {
		ids = append(ids, strings.TrimPrefix(filepath.Base(path), "result-"))
	}
	return ids
}

func (j journal) planPath(id string) string   { return filepath.Join(string(j), "plan-"+id) }
func (j journal) resultPath(id string) string { return filepath.Join(string(j), "result-"+id) }

// writeJournal puts a plan or a result on the disk, whole or not at all.
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

// endJournal replaces the plan of an undo by its result.
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
