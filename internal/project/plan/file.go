package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/osfile/atomicfile"
)

// changed loads the file and reports whether it differs from the shown text.
func (d *Manager) changed(w *draft) bool {
	text, err := d.read()
	if err != nil || text == w.text {
		return false // keep the shown text, which is in the log
	}
	w.text = text
	return true
}

// write stores a plan atomically, readable by the user alone.
func (d *Manager) write(text string) error {
	if d.File == "" {
		return nil
	}
	dir := filepath.Dir(d.File)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(d.File, []byte(text+"\n"))
}

func (d *Manager) read() (string, error) {
	info, err := os.Lstat(d.File)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", fmt.Errorf("%s is no plan: no regular file, or more than %d bytes", d.File, maxFile)
	}
	raw, err := os.ReadFile(d.File)
	text := strings.TrimSpace(string(raw))
	if err == nil && text == "" {
		err = errors.New("the plan is empty")
	}
	return text, err
}

// maxFile limits a plan read back, in bytes; a user may write more than the model.
const maxFile = 64 << 10
