package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/tailscale/hujson"

	"adze/internal/text/jsonc"
)

// Limits of the search.
const (
	maxDefinition = 256 << 10 // bytes of a defining file
	maxEntries    = 1000      // per folder
)

// folder reads a project without following links out of it. It serves one survey: names missing at
// first are not looked up again.
type folder struct {
	root   *os.Root
	absent map[string]bool // names in the project's folder, true if missing
	found  func() []Item   // Project.SDKs
}

func (p Project) open() (folder, error) {
	root, err := os.OpenRoot(p.Dir)
	return folder{root: root, absent: map[string]bool{}, found: p.SDKs}, err
}

// lacks reports whether the first part of a name is missing in the project's folder.
func (f folder) lacks(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	absent, known := f.absent[first]
	if !known {
		_, err := f.root.Lstat(first)
		absent = errors.Is(err, fs.ErrNotExist)
		f.absent[first] = absent
	}
	return absent
}

// Close closes the folder.
func (f folder) Close() { f.root.Close() }

// read returns a file, or nil if it does not exist.
func (f folder) read(name string) ([]byte, error) {
	if f.lacks(name) {
		return nil, nil
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not block the start
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.New("it cannot be read, or is a link out of the project")
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil || info.IsDir():
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxDefinition:
		return nil, fmt.Errorf("it has %d bytes, at most %d", info.Size(), maxDefinition)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxDefinition))
	if raw == nil {
		raw = []byte{}
	}
	return raw, err
}

// standard returns a JSON file without its comments, or nil if it does not exist.
func (f folder) standard(name string) ([]byte, error) {
	raw, err := f.read(name)
	if raw == nil || err != nil {
		return nil, err
	}
	plain, err := plainJSON(raw)
	if err != nil {
		return nil, errors.New("it is not JSON: " + strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return plain, nil
}

// plainJSON returns plain JSON without changing raw, whose hash is pinned.
func plainJSON(raw []byte) ([]byte, error) {
	text, err := jsonc.Text(raw)
	if err != nil {
		return nil, err
	}
	return hujson.Standardize(text)
}

// sdks lists project code that the user's language servers would run.
func (f folder) sdks() []Item {
	if f.found == nil {
		return nil
	}
	return f.found()
}

func (f folder) names(dir, ending string) (out []string) {
	if f.lacks(dir) {
		return nil
	}
	d, err := f.root.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	if info, err := d.Stat(); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := d.ReadDir(maxEntries) // an unreadable file cannot be used either
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ending) && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out
}
