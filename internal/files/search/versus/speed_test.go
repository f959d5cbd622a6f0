//go:build unix

package versus

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/files/search"
	"adze/internal/testkit/effort"
)

// usual are the questions that are timed, as assistants ask them.
func usual() []ask {
	return []ask{
		{pattern: "unlikelyIdentifier|x509ignoreCN"}, {pattern: "return"}, {pattern: `\berr\b`}, {pattern: "timeout", flags: "i"},
		{pattern: "ReadAll|WriteFile|OpenFile|MkdirAll|RemoveAll"}, {pattern: `func \w+\(`}, {pattern: "^import"}, {pattern: "[A-Z]{3,}_[A-Z]+"},
		{pattern: "TODO|FIXME"}, {pattern: "Größe"}, {pattern: ".*Error.*return"}, {pattern: `\w{20,}`}, {pattern: `\w+_handler\b`},
		{pattern: `TEXT ·\w+\(SB\)`, include: "*.s"}, {pattern: "init", flags: "l"}, {pattern: "init", flags: "c"}, {pattern: "qqxqqxqq"},
		{pattern: `\bnewclient\b`, flags: "i"}, {pattern: "Unlock|RUnlock"},
	}
}

// rare are those that match in few files: what signatures are for.
func rare() []ask {
	return []ask{{pattern: "MaxBytesReader"}, {pattern: "errUnterminated"}, {pattern: "Größe"}, {pattern: "qqxqqxqq"}, {pattern: `\bnewclient\b`, flags: "i"}}
}

// spent is what one run took.
type spent struct{ wall, cpu time.Duration }

// own runs adze's search and returns what it took, with the garbage of earlier runs collected
// before.
func own(f func()) spent {
	runtime.GC()
	cpu, start := used(), time.Now()
	f()
	return spent{time.Since(start), used() - cpu}
}

// used is the CPU time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// program runs another program whose output is read and dropped. What the reading takes is not
// counted as its CPU.
func (r race) program(name string, args ...string) spent {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = r.tree.Root
	out, err := cmd.StdoutPipe()
	must(r.t, err)
	start := time.Now()
	must(r.t, cmd.Start())
	_, err = io.Copy(io.Discard, out)
	must(r.t, err)
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		r.t.Fatalf("%s %q: %v", name, args, err)
	}
	return spent{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// row is one question, timed in pairs.
type row struct {
	name       string
	mine, them []spent
}

func (r *row) pair(mine, them spent) { r.mine, r.them = append(r.mine, mine), append(r.them, them) }

// ratio is the median of the ratios pair by pair.
func (r *row) ratio(of func(spent) time.Duration) float64 {
	var all []float64
	for i := range r.mine {
		all = append(all, float64(of(r.mine[i]))/float64(of(r.them[i])))
	}
	return median(all)
}

func wall(s spent) time.Duration { return s.wall }
func cpu(s spent) time.Duration  { return s.cpu }

// middle is the median time in milliseconds.
func middle(all []spent, of func(spent) time.Duration) float64 {
	var ms []float64
	for _, s := range all {
		ms = append(ms, of(s).Seconds()*1000)
	}
	return median(ms)
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// table tells what was measured, with the geometric means of the ratios.
func table(t *testing.T, name string, rows []*row) {
	var text strings.Builder
	sums := [2]float64{}
	fmt.Fprintf(&text, "\n%-45s %9s %9s %6s %6s\n", name, "CPU ms", "theirs", "CPU", "wall")
	for _, r := range rows {
		c, w := r.ratio(cpu), r.ratio(wall)
		sums[0], sums[1] = sums[0]+math.Log(c), sums[1]+math.Log(w)
		fmt.Fprintf(&text, "%-45s %9.1f %9.1f %6.2f %6.2f\n", r.name, middle(r.mine, cpu), middle(r.them, cpu), c, w)
	}
	c, w := math.Exp(sums[0]/float64(len(rows))), math.Exp(sums[1]/float64(len(rows)))
	fmt.Fprintf(&text, "%-45s %9s %9s %6.2f %6.2f\n", "geometric mean", "", "", c, w)
	t.Log(text.String())
}

// pairsWanted is how many pairs of runs are to be timed.
func pairsWanted(t *testing.T) int {
	t.Helper()
	effort.Needs(t, effort.Long, "times are taken by hand")
	return 5
}

// treeOf is the tree of a kind.
func treeOf(t *testing.T, kind string) string {
	t.Helper()
	switch kind {
	case "large":
		return largeTree(t)
	case "goroot":
		return goRoot(t)
	case "modules":
		return moduleTree(t)
	}
	return goTree(t)
}

// TestSpeedAgainstRipgrep times the usual questions on each tree, in five pairs of runs; -run picks
// trees and tables: Speed/goroot/every. Memory is what the searches took above what the
// program had before. Times are told, never judged.
func TestSpeedAgainstRipgrep(t *testing.T) {
	pairs, rg := pairsWanted(t), ripgrep(t)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			root := treeOf(t, kind)
			race{t: t, rg: rg, tree: search.Tree{Root: root}, pairs: pairs}.all()
		})
	}
}

// all are the tables of one tree.
func (r race) all() {
	r.part("lines", func(r race) {
		debug.FreeOSMemory()
		before, known := resident(), clearPeak()
		table(r.t, "usual", r.lines(usual(), 1000))
		table(r.t, "rare", r.lines(rare(), 1000))
		table(r.t, "first 100", r.lines([]ask{{pattern: "return", flags: "9"}}, 100))
		if known {
			r.t.Logf("peak memory over idle %.1f MiB", float64(peak()-before)/(1<<20))
		}
	})
	r.part("every", func(r race) { table(r.t, "usual, every line", r.lines(usual(), 1<<30)) })
	r.part("hundred", func(r race) {
		hundred := usual()
		for i := range hundred {
			if hundred[i].flags != "c" {
				hundred[i].flags += "9"
			}
		}
		table(r.t, "usual, first 100", r.lines(hundred, 100))
	})
	r.part("files", func(r race) {
		table(r.t, "files", r.files())
		r.tree.Folders = search.NewFolders()
		table(r.t, "files, folders remembered", r.files())
	})
	r.part("signed", race.signed)
}

// part is one table, which -run may leave out.
func (r race) part(name string, f func(race)) {
	r.t.Run(name, func(t *testing.T) {
		r.t = t
		f(r)
	})
}

// kinds are the trees that ADZE_TREES asks for: both, if it does not say.
func kinds() []string {
	if which := os.Getenv("ADZE_TREES"); which != "all" && which != "" {
		return strings.Fields(which)
	}
	return []string{"go", "large"}
}

// signed does the same with signatures, and tells what making them took: as the first search of a
// process, and as a later one, which remembers folders.
func (r race) signed() {
	r.tree.Signs = search.NewSigns(r.t.TempDir(), r.tree.Root)
	took := own(func() { must(r.t, r.tree.Signs.Learn(context.Background(), r.tree)) })
	r.t.Logf("signatures made in %.2f s of CPU", took.cpu.Seconds())
	debug.FreeOSMemory()
	before, known := resident(), clearPeak()
	table(r.t, "rare, signed, first", r.lines(rare(), 1000))
	r.tree.Folders = search.NewFolders()
	table(r.t, "usual, signed", r.lines(usual(), 1000))
	table(r.t, "rare, signed", r.lines(rare(), 1000))
	if known {
		r.t.Logf("peak memory over idle %.1f MiB", float64(peak()-before)/(1<<20))
	}
}

// race is adze against other programs on one tree.
type race struct {
	t     *testing.T
	rg    string
	tree  search.Tree
	pairs int
}

func (r race) lines(asked []ask, limit int) []*row {
	rows := make([]*row, len(asked))
	for i, a := range asked {
		rows[i] = &row{name: a.String()}
		q := a.query()
		q.Limit, q.Width = limit, 500
		args := append([]string{"--no-config", "--no-require-git", "-n", "--no-heading"}, a.args()...)
		grep := func() {
			_, err := r.tree.Grep(context.Background(), q)
			must(r.t, err)
		}
		grep() // so that both find the files in memory
		for range r.pairs {
			rows[i].pair(own(grep), r.program(r.rg, append(args, "./")...))
		}
	}
	return rows
}

// files times the list of all files and of one kind.
func (r race) files() []*row {
	glob := func(pattern string) func() {
		return func() {
			_, err := r.tree.Glob(context.Background(), search.GlobQuery{Pattern: pattern, Limit: 1000})
			must(r.t, err)
		}
	}
	type rivalry struct {
		name, pattern, program string
		args                   []string
	}
	all := []rivalry{
		{"all, against rg --files", "**", r.rg, []string{"--files", "--no-require-git"}},
		{"*.go, against rg --files -g", "**/*.go", r.rg, []string{"--files", "--no-require-git", "-g", "*.go"}},
		{"newest, against rg --sortr modified", "**", r.rg, []string{"--files", "--no-require-git", "--sortr", "modified"}},
	}
	if fd, err := exec.LookPath(cmp.Or(os.Getenv("ADZE_FD"), "fd")); err == nil {
		all = append(all, rivalry{"all, against fd", "**", fd, []string{"-t", "f"}}, rivalry{"*.go, against fd -e", "**/*.go", fd, []string{"-t", "f", "-e", "go"}})
	}
	rows := make([]*row, len(all))
	for i, a := range all {
		rows[i] = &row{name: a.name}
		glob(a.pattern)()
		for range r.pairs {
			rows[i].pair(own(glob(a.pattern)), r.program(a.program, a.args...))
		}
	}
	return rows
}

// clearPeak makes the system forget how much memory this process once had; if false, it cannot.
func clearPeak() bool { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil }

func resident() int64 { return status("VmRSS:") }
func peak() int64     { return status("VmHWM:") }

// status reads a size of this process, in bytes.
func status(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), field)
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kb, 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// goRoot is the whole toolchain, of some 15,000 files.
func goRoot(t testing.TB) string { return filepath.Dir(goTree(t)) }

// moduleFiles is how many files moduleTree has.
const moduleFiles = 29_000

// moduleTree is the first files of the module cache, in the order of their paths. It is made once
// and kept in the folder for temporary files.
func moduleTree(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	must(t, err)
	from := strings.TrimSpace(string(out))
	root := filepath.Join(os.TempDir(), fmt.Sprintf("adze-versus-modules-%d", os.Getuid()))
	if _, err := os.Stat(root + ".done"); err == nil {
		return root
	}
	w, left := writer{t: t, root: root}, moduleFiles
	must(t, filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == from+"/cache":
			return fs.SkipDir
		case left == 0:
			return fs.SkipAll
		case !e.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			w.file(strings.TrimPrefix(path, from+"/"), text)
			left--
		}
		return err
	}))
	if left > 0 {
		t.Logf("the module cache has only %d files", moduleFiles-left)
	}
	must(t, os.WriteFile(root+".done", nil, 0o644))
	return root
}
