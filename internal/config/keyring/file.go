package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
	"adze/internal/osfile/ownfile"
)

type entry struct {
	Host string `json:"host"`
	Ring bool   `json:"ring,omitempty"` // in the system's keyring
	Key  string `json:"key,omitempty"`  // the key itself
}

const maxFile = 1 << 20

// OpenError means that the key file is unreadable or not private.
type OpenError struct{ Message, Hint string }

// Error returns the message.
func (e *OpenError) Error() string { return e.Message }

// Next returns the next step.
func (e *OpenError) Next() string { return e.Hint }

// entries returns the list, read once; it is empty without a file.
func (s *Store) entries() (map[string]entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.read {
		s.list, s.err = readFile(s.path)
		s.read = true
	}
	return s.list, s.err
}

func readFile(path string) (map[string]entry, error) {
	raw, err := ownfile.Rule{Owner: os.Geteuid(), MaxSize: maxFile, Private: true}.Read(path)
	var foreign *ownfile.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &foreign):
		return nil, &OpenError{foreign.Error() + ": the keys in " + path + " are not used", foreign.Hint + "; make new keys if others use this machine"}
	case err != nil:
		return nil, &OpenError{err.Error(), "make " + path + " readable for yourself, or remove it"}
	}
	var list map[string]entry
	if json.Unmarshal(raw, &list) != nil {
		return nil, &OpenError{path + " cannot be read as keys", "remove it, and log in again"} // the cause may quote a key
	}
	return list, nil
}

// change rewrites the list under a lock. A crash leaves either the old file or the new one.
func (s *Store) change(do func(map[string]entry)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	unlock, err := filelock.Wait(context.Background(), s.path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	list, err := readFile(s.path) // another process may have changed it
	if err != nil {
		return err
	}
	if list == nil {
		list = map[string]entry{}
	}
	do(list)
	s.list, s.err, s.read, s.fresh = list, nil, true, nil
	if len(list) == 0 {
		return os.Remove(s.path)
	}
	return writeFile(s.path, list)
}

func writeFile(path string, list map[string]entry) error {
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(raw, '\n'))
}
