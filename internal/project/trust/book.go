package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
	"adze/internal/osfile/ownfile"
)

// Book is the file in the user's state folder that keeps what they allowed, by workspace: a copy
// of a project elsewhere is another one.
type Book struct {
	Path string
	Now  func() time.Time // if nil, time.Now
	May  func() error     // refuses a change; if nil, every change is allowed
	// Doubt returns why what the file says does not count now. It is nil where it does.
	Doubt func() error
}

// Of is the book in a state folder.
func Of(state string) Book { return Book{Path: filepath.Join(state, "trust.json")} }

// Consent is what a user said of one item.
type Consent struct {
	Hash    string    `json:"sha256"`
	Command string    `json:"command"` // as it was shown
	At      time.Time `json:"at"`
}

// pages is the file.
type pages struct {
	Version    int                           `json:"version"`
	Workspaces map[string]map[string]Consent `json:"workspaces"`
	Modes      map[string]string             `json:"permission_modes,omitempty"` // by workspace
}

// Bounds of the file.
const (
	bookVersion = 1
	maxBook     = 16 << 20 // bytes
	bookWait    = 5 * time.Second
)

// DamagedError says that the file of what was allowed cannot be used; nothing counts as allowed
// then.
type DamagedError struct {
	Path, Why string
	Newer     bool // a newer adze wrote it: it is left alone
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s %s, so nothing of a project counts as allowed", e.Path, e.Why)
}

// allowed is what counts for one workspace.
func (b Book) allowed(dir string) (map[string]Consent, error) {
	p, err := b.read()
	return p.Workspaces[key(dir)], err
}

// key is a workspace as the book names it: its path without links.
func key(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}

func (b Book) read() (pages, error) {
	none := pages{Version: bookVersion, Workspaces: map[string]map[string]Consent{}}
	if b.Doubt != nil {
		if err := b.Doubt(); err != nil {
			return none, err
		}
	}
	damaged := func(why string) (pages, error) { return none, &DamagedError{Path: b.Path, Why: why} }
	if b.Path == "" {
		return none, nil
	}
	raw, err := ownfile.Rule{Owner: os.Geteuid(), Most: maxBook, NoLink: true}.Read(b.Path)
	var foreign *ownfile.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, nil
	case errors.As(err, &foreign):
		return damaged(foreign.Of(b.Path) + " (" + foreign.Hint + ")")
	case err != nil:
		return damaged("cannot be read")
	}
	var p pages
	switch {
	case json.Unmarshal(raw, &p) != nil:
		return damaged("is damaged")
	case p.Version != bookVersion:
		return none, &DamagedError{b.Path, fmt.Sprintf("has the version %d, which this adze does not know", p.Version), p.Version > bookVersion}
	}
	if p.Workspaces == nil {
		p.Workspaces = none.Workspaces
	}
	return p, nil
}

// Allow notes that the user allowed items as they are.
func (b Book) Allow(ctx context.Context, dir string, items ...Item) error {
	now := b.Now
	if now == nil {
		now = time.Now
	}
	return b.change(ctx, func(p *pages) {
		page := p.Workspaces[key(dir)]
		if page == nil {
			page = map[string]Consent{}
			p.Workspaces[key(dir)] = page
		}
		for _, i := range items {
			page[i.ID] = Consent{i.Hash, i.Command(), now().UTC().Truncate(time.Second)}
		}
	})
}

// counted is what counts in a work tree: its own page, and of that of the main checkout what its
// own says nothing of. A consent without a hash is one that was taken back here, though it holds
// there.
func counted(own, main map[string]Consent) map[string]Consent {
	all := maps.Clone(main)
	if all == nil {
		all = map[string]Consent{}
	}
	maps.Copy(all, own)
	maps.DeleteFunc(all, func(_ string, c Consent) bool { return c.Hash == "" })
	return all
}

// Revoke takes consents back; without ids all that count here. It returns those that did. What the
// user allowed in the main checkout holds there as before.
func (p Project) Revoke(ctx context.Context, ids ...string) (gone []string, err error) {
	now := p.Book.Now
	if now == nil {
		now = time.Now
	}
	err = p.Book.change(ctx, func(all *pages) {
		page, main := all.Workspaces[key(p.Dir)], map[string]Consent(nil)
		if p.Main != "" {
			main = all.Workspaces[key(p.Main)]
		}
		if page == nil {
			page = map[string]Consent{}
		}
		here := counted(page, main)
		if len(ids) == 0 {
			ids = sortedKeys(here)
		}
		for _, id := range ids {
			if _, ok := here[id]; !ok || slices.Contains(gone, id) {
				continue
			}
			gone = append(gone, id)
			delete(page, id)
			if _, there := main[id]; there {
				page[id] = Consent{Command: "taken back", At: now().UTC().Truncate(time.Second)}
			}
		}
		all.Workspaces[key(p.Dir)] = page
		if len(page) == 0 {
			delete(all.Workspaces, key(p.Dir))
		}
	})
	return gone, err
}

// Kept are the ids that have a consent that counts here, in order.
func (p Project) Kept() []string {
	all, _ := p.allowed() // a damaged book keeps nothing
	return sortedKeys(all)
}

// change rewrites the file while no other process does. A damaged one is kept beside it; one of a
// newer version is left alone.
func (b Book) change(ctx context.Context, do func(*pages)) error {
	for _, refuses := range []func() error{b.May, b.Doubt} {
		if refuses == nil {
			continue
		}
		if err := refuses(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, bookWait)
	defer cancel()
	unlock, err := filelock.Wait(ctx, b.Path+".lock")
	if err != nil {
		return fmt.Errorf("another adze holds %s.lock: %w", b.Path, err)
	}
	defer unlock()
	p, err := b.read()
	var damage *DamagedError
	if errors.As(err, &damage) {
		if damage.Newer {
			return damage
		}
		if err := b.setAside(); err != nil {
			return err
		}
	}
	do(&p)
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(b.Path, append(raw, '\n'))
}

// setAside keeps a file that cannot be used under another name.
func (b Book) setAside() error {
	for n := 1; n < 100; n++ {
		name := fmt.Sprintf("%s.damaged-%d", b.Path, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(b.Path, name)
		}
	}
	return fmt.Errorf("there are too many damaged files beside %s; remove them", b.Path)
}
