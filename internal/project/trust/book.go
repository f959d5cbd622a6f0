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

// A Book is the file in the user's state folder with their consents, by workspace: a copy of a
// project elsewhere is another workspace.
type Book struct {
	Path string
	Now  func() time.Time // nil for time.Now
	May  func() error     // returns an error to refuse a change; may be nil
	// Problem returns the reason why the book's content does not count now, or nil.
	Problem func() error
}

// OpenBook returns the book in a state folder.
func OpenBook(state string) Book { return Book{Path: filepath.Join(state, "trust.json")} }

// Consent is the user's consent to one item.
type Consent struct {
	Hash    string    `json:"sha256"`
	Command string    `json:"command"` // as it was shown
	At      time.Time `json:"at"`
}

type pages struct {
	Version    int                           `json:"version"`
	Workspaces map[string]map[string]Consent `json:"workspaces"`
	Modes      map[string]string             `json:"permission_modes,omitempty"` // by workspace
}

// Limits of the file.
const (
	bookVersion = 1
	maxBook     = 16 << 20 // bytes
	bookWait    = 5 * time.Second
)

// DamagedError means that the book is unusable. Then nothing is allowed.
type DamagedError struct {
	Path, Reason string
	Newer        bool // written by a newer adze, and left alone
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s %s, so nothing of a project counts as allowed", e.Path, e.Reason)
}

// allowed returns the consents for one workspace.
func (b Book) allowed(dir string) (map[string]Consent, error) {
	p, err := b.read()
	return p.Workspaces[key(dir)], err
}

// key returns a workspace's path without links.
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
	if b.Problem != nil {
		if err := b.Problem(); err != nil {
			return none, err
		}
	}
	damaged := func(why string) (pages, error) { return none, &DamagedError{Path: b.Path, Reason: why} }
	if b.Path == "" {
		return none, nil
	}
	raw, err := ownfile.Rule{Owner: os.Geteuid(), MaxSize: maxBook, NoLink: true}.Read(b.Path)
	var foreign *ownfile.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, nil
	case errors.As(err, &foreign):
		return damaged(foreign.ReasonAfter(b.Path) + " (" + foreign.Hint + ")")
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

// Allow records the user's consent to items in their current form.
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

// counted returns the consents valid in a work tree: its own, and those of the main checkout that
// it does not override. An own consent without a hash was revoked here only.
func counted(own, main map[string]Consent) map[string]Consent {
	all := maps.Clone(main)
	if all == nil {
		all = map[string]Consent{}
	}
	maps.Copy(all, own)
	maps.DeleteFunc(all, func(_ string, c Consent) bool { return c.Hash == "" })
	return all
}

// Revoke revokes consents, or all valid ones without ids, and returns those revoked. Consents of
// the main checkout stay valid there.
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
			ids = slices.Sorted(maps.Keys(here))
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

// ConsentedIDs returns the sorted ids with a valid consent.
func (p Project) ConsentedIDs() []string {
	all, _ := p.allowed() // a damaged book has none
	return slices.Sorted(maps.Keys(all))
}

// change rewrites the file under a lock. It moves a damaged file aside and leaves one from a newer
// version alone.
func (b Book) change(ctx context.Context, do func(*pages)) error {
	for _, refuses := range []func() error{b.May, b.Problem} {
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

// setAside renames an unusable file.
func (b Book) setAside() error {
	for n := 1; n < 100; n++ {
		name := fmt.Sprintf("%s.damaged-%d", b.Path, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(b.Path, name)
		}
	}
	return fmt.Errorf("there are too many damaged files beside %s; remove them", b.Path)
}
