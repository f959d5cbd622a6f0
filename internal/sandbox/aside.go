//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
)

// Limits on the changes shown to the user. The changes beyond them form one entry, applied or
// dropped as a whole.
const (
	maxFiles    = 300
	maxFileText = 512 << 10 // bytes per file, both sides together
	maxTexts    = 4 << 20   // bytes for all files
)

// pendingChanges holds changes for the user to decide.
type pendingChanges struct {
	*view
	changes []*overlay.Change
	all     bool // also changes without a doubt
	parts   []part
	texts   int // bytes so far
}

type part struct {
	changes []*overlay.Change
	display proc.ChangedFile
}

// aside lists the changes to decide, or returns nil if there are none.
func (v *view) aside(changes []*overlay.Change) *proc.PendingChanges {
	p := &pendingChanges{view: v, changes: changes, all: v.command.KeepChanges}
	if v.command.ReviewChanges || p.all {
		for _, top := range changes {
			for _, child := range top.Children {
				p.list(child, "")
			}
		}
	}
	if len(p.parts) == 0 && !p.all {
		return nil
	}
	a := &proc.PendingChanges{Apply: p.apply}
	for _, part := range p.parts {
		a.Files = append(a.Files, part.display)
	}
	return a
}

// list adds a change and its children. A doubt about a folder holds for everything in it.
func (p *pendingChanges) list(c *overlay.Change, doubt string) {
	if c.SkipReason != "" || c.Dropped {
		return
	}
	if c.AskReason == "" {
		c.AskReason = doubt
	}
	replaces := c.Kind == apply.New && c.Lower.Exists()
	if isFolder(c) && !replaces && len(c.Children) > 0 && !p.ofGit(c) {
		for _, child := range c.Children {
			p.list(child, c.AskReason)
		}
		if c.Kind == apply.New || c.Upper.Mode == c.Lower.Mode {
			return
		}
	}
	switch {
	case !p.all && c.AskReason == "", c.Kind == apply.Merged && c.Upper.Mode == c.Lower.Mode && !p.ofGit(c):
		return
	case p.ofGit(c) && len(p.parts) > 0 && p.parts[len(p.parts)-1].display.Path == p.gitOf(c):
		last := &p.parts[len(p.parts)-1]
		last.changes = append(last.changes, c)
		return
	case len(p.parts) >= maxFiles && p.parts[len(p.parts)-1].display.Path == moreFiles:
		last := &p.parts[len(p.parts)-1]
		last.changes = append(last.changes, c)
		last.display.Summary = plural.Of(len(last.changes), "entry")
		if c.AskReason != "" {
			last.display.AskReason = c.AskReason
		}
		return
	}
	p.parts = append(p.parts, part{[]*overlay.Change{c}, p.show(c)})
}

// moreFiles is the path of the entry for all changes beyond maxFiles.
const moreFiles = "all other changes"

func (p *pendingChanges) ofGit(c *overlay.Change) bool { return p.gitOf(c) != "" }

// gitOf returns the folder of the change's repository, or "" if the change is not part of git's own
// data.
func (p *pendingChanges) gitOf(c *overlay.Change) string {
	if c.Root > 0 {
		return legibleIn(p.roots[0].Path, p.roots[c.Root].Path)
	}
	before, after, found := strings.Cut("/"+c.Path+"/", "/.git/")
	if !found || after == "" && !isFolder(c) {
		return ""
	}
	return legible(strings.TrimPrefix(before+"/.git", "/"))
}

func (p *pendingChanges) show(c *overlay.Change) proc.ChangedFile {
	out := proc.ChangedFile{Path: legibleIn(p.roots[0].Path, p.Real(c)), Change: "modified", AskReason: c.AskReason}
	switch {
	case len(p.parts) >= maxFiles:
		return proc.ChangedFile{Path: moreFiles, Change: "modified", Summary: plural.Of(1, "entry"), AskReason: c.AskReason}
	case p.ofGit(c):
		return proc.ChangedFile{Path: p.gitOf(c), Change: "modified", Summary: inRepository(c), AskReason: c.AskReason}
	case c.Kind == apply.Removed:
		out.Change = "removed"
	case !c.Lower.Exists():
		out.Change = "added"
	}
	var said []string
	switch {
	case c.Kind == apply.Removed && c.Lower.IsFolder():
		said = append(said, "the folder with all that is in it")
	case c.Kind == apply.Link:
		said = append(said, "link to "+legible(c.Target))
	case c.Kind == apply.New && c.Lower.Exists():
		said = append(said, "a new folder with "+plural.Of(count(c), "entry")+" instead of what is there")
	case c.Kind == apply.New:
		said = append(said, "an empty folder")
	case c.Kind == apply.File, c.Kind == apply.Removed:
		if out.Before, out.After, out.Texts = p.sides(c); !out.Texts {
			said = append(said, fmt.Sprintf("no text, or too long: %d bytes, before %d", c.Upper.Size, c.Lower.Size))
			if c.Kind == apply.Removed {
				said[0] = fmt.Sprintf("no text, or too long: %d bytes", c.Lower.Size)
			}
		}
	}
	if now, before := c.Upper.Mode, c.Lower.Mode; c.Kind != apply.Removed && c.Kind != apply.Link && c.Lower.Exists() && now&0o7777 != before&0o7777 {
		said = append(said, fmt.Sprintf("mode %o instead of %o", now&0o7777, before&0o7777))
	} else if out.Change == "added" && c.Kind == apply.File && now&0o111 != 0 {
		said = append(said, "executable")
	}
	out.Summary = strings.Join(said, ", ")
	return out
}

func inRepository(c *overlay.Change) string {
	var names []string
	objects := 0
	c.Walk(func(c *overlay.Change) bool {
		switch {
		case c.SkipReason != "" || c.Dropped || isFolder(c):
		case strings.Contains(c.Path+"/", "objects/"):
			objects++
		default:
			names = append(names, legible(c.Path))
		}
		return c.SkipReason == "" && !c.Dropped
	})
	if more := len(names) - mostTold; more > 0 {
		names = append(names[:mostTold], fmt.Sprintf("%d more", more))
	}
	if objects > 0 {
		names = append(names, plural.Of(objects, "object"))
	}
	return "the repository's own data, as a whole: " + strings.Join(names, ", ")
}

func count(c *overlay.Change) (n int) {
	c.Walk(func(*overlay.Change) bool { n++; return true })
	return n - 1
}

// sides returns the file's texts before and after. ok is false if one is not text or too long.
func (p *pendingChanges) sides(c *overlay.Change) (before, after string, ok bool) {
	size := int64(0)
	if c.Lower.Exists() {
		if !c.Lower.IsFile() {
			return "", "", false
		}
		size += c.Lower.Size
	}
	if c.Kind == apply.File {
		size += c.Upper.Size
	}
	if size > maxFileText || p.texts+int(size) > maxTexts {
		return "", "", false
	}
	if c.Lower.Exists() {
		if before, ok = textOf(p.Real(c)); !ok {
			return "", "", false
		}
	}
	if c.Kind == apply.File {
		if after, ok = textOf(p.Place(c)); !ok {
			return "", "", false
		}
	}
	p.texts += int(size)
	return before, after, true
}

// textOf reads a regular text file. The file may have been replaced by now; apply compares it
// again.
func textOf(path string) (string, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFileText {
		return "", false
	}
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	if err != nil && n < len(data) {
		return "", false
	}
	text := string(data)
	return text, utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// apply applies the chosen changes. Without choices it drops everything listed.
func (p *pendingChanges) apply(choices []proc.FileChoice) (found proc.Findings) {
	for i, part := range p.parts {
		choice := proc.FileChoice{}
		if i < len(choices) {
			choice = choices[i]
		}
		for _, c := range part.changes {
			p.choose(c, choice)
		}
	}
	kept := p.all && len(choices) > 0
	for _, top := range p.changes {
		for _, child := range top.Children {
			kept = emptied(child) || kept
		}
	}
	if p.all && !kept {
		p.discard()
		return found
	}
	return p.finish(p.changes)
}

func (p *pendingChanges) choose(c *overlay.Change, choice proc.FileChoice) {
	switch {
	case choice.Apply && choice.Text != nil:
		if err := p.Rewrite(c, *choice.Text); err != nil {
			c.SkipReason = "the chosen part of it could not be written: " + err.Error()
		}
	case choice.Apply:
	case c.AskReason != "":
		leave(c, c.AskReason)
	case c.Kind == apply.Merged:
		c.Upper.Mode = c.Lower.Mode
		if p.ofGit(c) {
			for _, child := range c.Children {
				p.choose(child, choice)
			}
		}
	default:
		c.Dropped = true
	}
}

// emptied drops new folders with no wanted content and reports whether some part of the change is
// applied.
func emptied(c *overlay.Change) (kept bool) {
	if c.SkipReason != "" || c.Dropped {
		return false
	}
	if !isFolder(c) || len(c.Children) == 0 {
		return true
	}
	for _, child := range c.Children {
		kept = emptied(child) || kept
	}
	if !kept && c.Kind == apply.New && !c.Lower.Exists() {
		if c.AskReason != "" {
			c.SkipReason = c.AskReason
			return false
		}
		c.Dropped = true
	}
	return kept
}

func (v *view) discard() {
	_ = v.Retire() // if it fails, the folder is removed anyway
	v.sandbox.removing.Go(func() { _ = v.Close() })
}
