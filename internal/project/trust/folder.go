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

// Bounds of what is looked at.
const (
	maxDefinition = 256 << 10 // bytes of a file that defines something
	maxEntries    = 1000      // of one folder
)

// folder is a project, read without following a link out of it. It is used for one look at the
// whole: what was missing at first is not looked for again.
type folder struct {
	root   *os.Root
	absent map[string]bool // names in the project's own folder that were looked for: whether they are missing
	found  func() []Item   // Project.SDKs
}

func (p Project) open() (folder, error) {
	root, err := os.OpenRoot(p.Dir)
	return folder{root: root, absent: map[string]bool{}, found: p.SDKs}, err
}

// lacks reports that nothing has a name, because its first part is not in the project's folder.
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

// Close lets go of the folder.
func (f folder) Close() { f.root.Close() }

// read is a definition; nil without an error: there is none.
func (f folder) read(name string) ([]byte, error) {
	if f.lacks(name) {
		return nil, nil
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold the start
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

// standard is a file of JSON, which may have comments, as plain JSON; if nil, there is none.
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

// plainJSON is a text as plain JSON, and leaves raw as it is, by whose hash consent goes.
func plainJSON(raw []byte) ([]byte, error) {
	text, err := jsonc.Text(raw)
	if err != nil {
		return nil, err
	}
	return hujson.Standardize(text)
}

// sdks lists what language servers of the user's would run of the project.
func (f folder) sdks() []Item {
	if f.found == nil {
		return nil
	}
	return f.found()
}

// names lists the files of a folder with an ending.
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
	entries, _ := d.ReadDir(maxEntries) // what cannot be listed cannot be used either
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ending) && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out
}
