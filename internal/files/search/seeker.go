package search

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"adze/internal/files/search/match"
)

type seeker struct {
	tree  Tree
	q     GrepQuery
	scan  *match.Scanner
	most  int // matches after which a file's search ends; 0 means no limit
	file  boundedFile
	first *first // shared by all workers
	r     GrepResult
}

func newSeeker(t Tree, m *match.Matcher, q GrepQuery, f *first) *seeker {
	c := match.Config{Before: q.Before, After: q.After, Width: q.Width, First: q.Mode == Files}
	if q.Stop && q.Mode == Content && q.PerFile >= q.Limit {
		c.Limit = f.limit
	}
	return &seeker{tree: t, q: q, scan: match.NewScanner(m, c), most: c.Limit, first: f}
}

// beyond reports that no match below a folder can be returned, so the search skips it.
func (s *seeker) beyond(folder string) bool { return s.q.Stop && !s.first.takes(folder, "") }

func (s *seeker) ordered() bool { return true }

func (s *seeker) unreadable(path string) { s.r.Unreadable.add(path) }

func (s *seeker) visit(ctx context.Context, d *dir, files []entry) {
	withheld := s.tree.withheld(d)
	for _, e := range files {
		if ctx.Err() != nil {
			return
		}
		// A link's target is searched at its own path if it is in the tree.
		if e.kind != kindFile {
			continue
		}
		if withheld != nil && withheld(e.name) {
			s.r.Withheld++
			continue
		}
		if s.q.Stop && !s.first.takes(d.path, e.name) {
			continue
		}
		if text, ok := s.instead(d, e); ok {
			if err := s.searchText(ctx, d.path, e.name, text); err != nil && ctx.Err() == nil {
				s.unreadable(d.path + e.name)
			}
			continue
		}
		err := d.folder.openFile(e.name, &s.file.handle)
		if err == nil {
			err = s.search(ctx, d.path, e.name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
			s.unreadable(d.path + e.name)
		}
	}
}

// instead returns the text that replaces a file. Without any texts it builds no path.
func (s *seeker) instead(d *dir, e entry) (text string, ok bool) {
	if len(s.tree.Texts) == 0 {
		return "", false
	}
	text, ok = s.tree.Texts[d.path+e.name]
	return text, ok
}

func (s *seeker) search(ctx context.Context, folder, name string) error {
	s.file.left, s.file.cut = cmp.Or(s.tree.FileBytes, MaxFile), false
	found, err := s.scan.Run(ctx, &s.file, s.keep(folder, name))
	if err := errors.Join(err, s.file.Close()); err != nil {
		return err
	}
	return s.take(folder, name, found, s.file.cut)
}

func (s *seeker) searchText(ctx context.Context, folder, name, text string) error {
	found, err := s.scan.Run(ctx, strings.NewReader(text), s.keep(folder, name))
	if err != nil {
		return err
	}
	return s.take(folder, name, found, false)
}

// keep returns how many matches a file may add.
func (s *seeker) keep(folder, name string) int {
	if s.q.Mode == Content && s.first.takes(folder, name) {
		return max(s.q.PerFile, s.most)
	}
	return 0
}

// take counts a file's matches; cut means that it was read partly.
func (s *seeker) take(folder, name string, found match.FileResult, cut bool) error {
	switch found.Skip {
	case match.Binary:
		s.r.Binary.add(folder + name)
		return nil
	case match.TooLarge:
		s.r.TooLarge.add(folder + name)
		return nil
	}
	if cut {
		s.r.Partly.add(folder + name)
	}
	s.r.Searched++
	if found.Count == 0 {
		return nil
	}
	s.r.Matching++
	if s.q.Mode != Files {
		s.r.Matches += found.Count
	}
	if s.first.takes(folder, name) {
		s.first.add(FileMatches{Path: folder + name, Count: found.Count, Lines: found.Lines, Decode: found.Decode, NULs: found.NULs})
	}
	return nil
}

// boundedFile reads a limited number of bytes from a file, which may be too long to search or grow
// faster than it is read.
type boundedFile struct {
	handle
	left int64
	cut  bool // the limit was reached before the end
}

// Read returns io.EOF at the limit.
func (b *boundedFile) Read(p []byte) (int, error) {
	if b.left <= 0 {
		n, _ := b.handle.Read(p[:min(len(p), 1)])
		b.cut = n > 0
		return 0, io.EOF
	}
	n, err := b.handle.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (t Tree) grepFile(ctx context.Context, s *seeker) (GrepResult, error) {
	text, instead := t.Texts[""]
	err := t.openRootFile(&s.file.handle)
	switch {
	case err == nil && instead:
		_ = s.file.Close() // opened only to check that it exists
		err = s.searchText(ctx, "", "", text)
	case err == nil:
		err = s.search(ctx, "", "")
	}
	if ctx.Err() != nil {
		return GrepResult{}, aborted(ctx.Err())
	}
	if err != nil {
		return GrepResult{}, rootError(t.Root, err)
	}
	return mergeSeekers([]*seeker{s}), nil
}

func mergeSeekers(seekers []*seeker) GrepResult {
	r := GrepResult{}
	for _, s := range seekers {
		r.Matches += s.r.Matches
		r.Matching += s.r.Matching
		r.Searched += s.r.Searched
		r.Binary.merge(s.r.Binary)
		r.TooLarge.merge(s.r.TooLarge)
		r.Withheld += s.r.Withheld
		r.Unreadable.merge(s.r.Unreadable)
		r.Partly.merge(s.r.Partly)
	}
	q := seekers[0].q
	r.Files, r.Truncated = seekers[0].first.sorted(q.Limit)
	if r.Truncated = r.Truncated && q.Stop; r.Truncated {
		r.Matches, r.Matching = 0, len(r.Files)
		for i := range r.Files {
			r.Matches += r.Files[i].shown(q.Mode)
		}
	}
	return r
}

// shown returns the match count in the result.
func (m *FileMatches) shown(mode Mode) int {
	switch mode {
	case Files:
		return 0
	case Count:
		return m.Count
	}
	return m.weight()
}
