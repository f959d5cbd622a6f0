package workspace

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	similarNames = 3
	similarScan  = 20_000 // entries examined before giving up: about 20 ms
	similarDepth = 12     // folders below the root; opening each from there doubles the cost
)

// Similar returns up to three existing names that p, which does not exist, may be a mistake for:
// first from its folder, then files with its name elsewhere in the workspace. Names inside the
// workspace are relative to the root.
func (r *Root) Similar(p Path) []string {
	if p.allowed() != nil {
		return nil
	}
	folder, want := r.nearest(p)
	found := r.siblings(folder, want)
	if len(found) < similarNames && !p.outside {
		found = append(found, r.elsewhere(filepath.Base(p.abs), found)...)
	}
	return found[:min(len(found), similarNames)]
}

// nearest returns the deepest existing folder in p and the missing element in it.
func (r *Root) nearest(p Path) (folder, missing string) {
	for at := p.abs; ; {
		up := filepath.Dir(at)
		if d, err := r.openFolder(up); err == nil {
			d.Close()
			return up, filepath.Base(at)
		}
		if up == at {
			return up, ""
		}
		at = up
	}
}

type scoredPath struct {
	name  string
	score float64
}

// siblings ranks the folder's entries by likeness to want.
func (r *Root) siblings(folder, want string) []string {
	d, err := r.openFolder(folder)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Names(similarScan)
	var close []scoredPath
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) {
			continue
		}
		if s := likeness(want, name); s >= 0.6 {
			close = append(close, scoredPath{r.display(filepath.Join(folder, name)), s})
		}
	}
	slices.SortFunc(close, func(a, b scoredPath) int {
		if a.score != b.score {
			return int((b.score - a.score) * 1e6)
		}
		return strings.Compare(a.name, b.name)
	})
	var found []string
	for _, c := range close[:min(len(close), similarNames)] {
		found = append(found, c.name)
	}
	return found
}

func (r *Root) display(abs string) string {
	rel, _ := relativeTo(r.dir, abs)
	return rel
}

// elsewhere finds files with exactly this name, breadth first, so that those nearest to the root
// come first.
func (r *Root) elsewhere(name string, not []string) (found []string) {
	budget := similarScan
	for queue := []string{r.dir}; len(queue) > 0 && budget > 0 && len(found) < similarNames; queue = queue[1:] {
		d, err := r.openFolder(queue[0])
		if err != nil {
			continue
		}
		names, _ := d.Names(budget)
		slices.Sort(names)
		budget -= len(names)
		for _, n := range names {
			info, err := d.Lstat(n)
			path := filepath.Join(queue[0], n)
			switch {
			case err != nil:
			case info.Mode.IsDir():
				if !strings.HasPrefix(n, ".") && n != "node_modules" && strings.Count(r.display(path), "/") < similarDepth {
					queue = append(queue, path)
				}
			case strings.EqualFold(n, name) && !slices.Contains(not, r.display(path)):
				found = append(found, r.display(path))
			}
		}
		d.Close()
	}
	return found
}

// likeness returns 1 for names that differ only in case or look-alike characters, and less the more
// characters differ.
func likeness(a, b string) float64 {
	a, b = plain(a), plain(b)
	if a == b {
		return 1
	}
	stemA, stemB := strings.TrimSuffix(a, filepath.Ext(a)), strings.TrimSuffix(b, filepath.Ext(b))
	if stemA == stemB && stemA != "" {
		return 0.95
	}
	longest := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	score := 1 - float64(distance([]rune(a), []rune(b)))/float64(longest)
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) >= 4 && strings.Contains(long, short) {
		score = max(score, 0.7)
	}
	return score
}

// plain folds case and replaces typographic characters that people use in file names and models do
// not type.
func plain(s string) string {
	s = strings.Map(func(c rune) rune {
		switch c {
		case '\u00a0', '\u202f', '\u2009':
			return ' '
		case '\u2018', '\u2019':
			return '\''
		case '\u2013', '\u2014', '_':
			return '-'
		}
		return c
	}, s)
	return strings.ToLower(s)
}

// distance counts insertions, deletions, replacements and swaps of neighbors (optimal string
// alignment).
func distance(a, b []rune) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
