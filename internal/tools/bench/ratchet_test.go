//go:build unix

package bench

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	adzerun "adze/internal/run"
	"adze/internal/testkit/effort"
)

// countsFile is the table that holds the counts, one a line: a name and a number.
const countsFile = "testdata/counts.txt"

// ratchet holds counts that a machine's noise cannot move to the table: none may grow by more than
// 2 %.
type ratchet struct {
	t     *testing.T
	table map[string]int64
}

func newRatchet(t *testing.T) ratchet {
	t.Helper()
	effort.Needs(t, effort.Short, "it builds and runs the program")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the table is of linux/amd64")
	}
	raw, err := os.ReadFile(countsFile)
	if err != nil {
		t.Fatal(err)
	}
	r := ratchet{t, map[string]int64{}}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] == "#" {
			continue
		}
		n, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
		if err != nil {
			t.Fatalf("%s: %q has no number", countsFile, line)
		}
		r.table[strings.Join(fields[:len(fields)-1], " ")] = n
	}
	return r
}

// bar is what a count may be at most: 2 % more than its line. What a turn does more stands twenty
// times in the count of twenty turns; a commit more or less there is one that waited for its time.
func bar(name string, held int64) int64 {
	if strings.Contains(name, "× 20: ") {
		return held + max(held/50, 3)
	}
	return held + held/50
}

// holds compares one count with its line.
func (r ratchet) holds(name string, got int64) {
	r.t.Helper()
	held, ok := r.table[name]
	if !ok && got <= bar(name, 0) {
		return
	}
	line := fmt.Sprintf("%-40s %d", name, got)
	r.t.Log(line)
	switch {
	case !ok:
		r.t.Errorf("%s has no line of %q; add this one:\n%s", countsFile, name, line)
	case got > bar(name, held):
		r.t.Errorf("%s: %d, was %d. Find what it is, or change its line in %s to this one and say in the commit why:\n%s", name, got, held, countsFile, line)
	case got < held-held/50:
		r.t.Logf("it was %d: let the line of %s say so, or it grows back unseen", held, countsFile)
	}
}

// least measures until all counts hold, ten times at most, and compares the least of each: what is
// on top of that is the scheduler's, or that of a machine so busy that what is awaited came late.
func (r ratchet) least(measure func() map[string]int64) {
	r.t.Helper()
	all := measure()
	fits := func() bool {
		for name, n := range all {
			if n > bar(name, r.table[name]) {
				return false
			}
		}
		return true
	}
	for tries := 1; tries < 10 && !fits(); tries++ {
		for name, n := range measure() {
			all[name] = min(all[name], n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r.holds(name, all[name])
	}
}

// ground is a folder and a home whose paths are as long on every machine.
func ground(t *testing.T, server *instant) runner {
	t.Helper()
	top := "/tmp/adze-counts-" + strings.ToLower(rand.Text()[:9]) // os.MkdirTemp makes names of one to ten digits
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Skipf("a folder in /tmp is needed: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	r := runner{t: t, dir: filepath.Join(top, "work"), home: filepath.Join(top, "home"), server: server}
	for _, dir := range []string{r.dir, r.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// bare gives a command nothing of this machine's environment.
func (r runner) bare(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + r.home, "ADZE_HOME=" + r.home, "OPENAI_API_KEY=key", "OPENAI_BASE_URL=" + r.server.URL + "/v1", "TZ=UTC"}
	return cmd
}

// TestCountsOfTheProgram counts what every start pays for before main.
//
//	ADZE_TESTS=short go test -v -run TestCounts ./internal/tools/bench
func TestCountsOfTheProgram(t *testing.T) {
	r := newRatchet(t)
	if err := build(); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(binaries, "adze")
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	r.holds("bytes of the stripped binary", info.Size())
	// Where a method may be called by its name, as text/template does, the linker keeps every exported
	// method of every type.
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if by := "reflect.Value.MethodByName"; bytes.Contains(program, []byte(by)) {
		t.Errorf("%s is linked; go build -ldflags=-dumpdep . 2>&1 | grep ReflectMethod shows by what", by)
	}
	list := exec.Command("go", "list", "-deps", "adze")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	r.holds("packages linked", int64(bytes.Count(packages, []byte("\n"))))
	version := exec.Command(binary, "--version")
	version.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := version.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, trace)
	}
	inits := regexp.MustCompile(`(?m)^init \S+ .* (\d+) bytes, (\d+) allocs$`).FindAllSubmatch(trace, -1)
	size, allocs := int64(0), int64(0)
	for _, of := range inits {
		n, _ := strconv.ParseInt(string(of[1]), 10, 64) // digits
		size += n
		n, _ = strconv.ParseInt(string(of[2]), 10, 64) // digits
		allocs += n
	}
	r.holds("packages with init", int64(len(inits)))
	r.holds("allocations of init", allocs)
	// A package that fills a table at the start shows here: go-runewidth v0.0.26 and v0.0.27 fill one
	// of 2 MB.
	r.holds("bytes allocated by init", size)
}

// counted are the kinds of system calls that do not depend on how goroutines are scheduled. Each
// commit to the store is one fsync.
var counted = []string{"newfstatat", "openat", "openat2", "getdents64", "readlinkat", "mkdirat", "unlinkat", "pwrite64", "fsync", "fdatasync", "connect", "execve"}

// TestCountsOfSystemCalls counts those of a start with one prompt, and of turns of one call.
func TestCountsOfSystemCalls(t *testing.T) {
	r := newRatchet(t)
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	on := ground(t, newInstant(t))
	for _, start := range []string{"first start ever", "start"} {
		r.least(func() map[string]int64 {
			if start == "first start ever" {
				if err := os.RemoveAll(filepath.Join(on.home, "state")); err != nil {
					t.Fatal(err)
				}
			}
			named, all := map[string]int64{}, on.traced(t)
			for _, kind := range counted {
				named[start+": "+kind] = all[kind]
			}
			return named
		})
	}
	for _, name := range []string{"read", "grep", "edit", "bash"} {
		r.least(func() map[string]int64 {
			named, some, more := map[string]int64{}, turns(t, name, few).traced(t), turns(t, name, many).traced(t)
			for _, kind := range counted {
				if name == "bash" && kind != "execve" && kind != "fsync" {
					continue // the shell's own depend on the machine
				}
				named[name+" × 20: "+kind] = more[kind] - some[kind]
			}
			return named
		})
	}
}

// traced runs one prompt below strace, and counts what of counted it calls, and pread64.
func (r runner) traced(t *testing.T) map[string]int64 {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := r.bare(r.adze("go"))
	cmd.Args = append([]string{"strace", "-f", "-qq", "-e", "trace=pread64," + strings.Join(counted, ","), "-o", log}, cmd.Args...)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = strace
	if out, err := cmd.CombinedOutput(); err != nil && bytes.Contains(out, []byte("ptrace")) {
		t.Skipf("strace may not trace here: %s", out)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, call := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllStringSubmatch(string(text), -1) {
		all[call[1]]++
	}
	return all
}

// few and many are turns: the difference is twenty.
const few, many = 4, 24

// turns is the ground for a model that makes so many calls of one tool.
func turns(t *testing.T, tool string, n int) runner {
	t.Helper()
	r := ground(t, newInstant(t, calls(tool, n)...))
	r.withMarks(t)
	return r
}

// withMarks writes the file that calls are on.
func (r runner) withMarks(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "a.txt"), []byte(marks(100)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// calls are so many of one tool on the file of marks.
func calls(tool string, n int) []string {
	plan := make([]string, n)
	for i := range plan {
		args := map[string]string{
			"read": fmt.Sprintf(`{"path":"a.txt","offset":%d,"limit":2}`, i+1),
			"grep": fmt.Sprintf(`{"pattern":"mark %d\\."}`, i),
			"bash": fmt.Sprintf(`{"command":"true %d","description":"Do nothing"}`, i),
			"edit": fmt.Sprintf(`{"path":"a.txt","old_string":"mark %d.","new_string":"mark %d!"}`, i, i),
		}
		plan[i] = object(map[string]any{"name": tool, "arguments": args[tool]})
	}
	return plan
}

// marks is a text with so many places that can be found and edited.
func marks(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "a line\nmark %d.\n", i)
	}
	return text.String()
}

// countsInside names the file to which this program, as adze, writes what it allocated.
const countsInside = "ADZE_BENCH_ALLOCATIONS"

// asAdze runs the program in the place of the tests, where it is asked to.
func asAdze() {
	path := os.Getenv(countsInside)
	if path == "" {
		return
	}
	code := adzerun.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d %d", m.Mallocs, m.TotalAlloc), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// allocated runs one prompt, and counts what it allocated.
func (r runner) allocated(t *testing.T) (allocations, size int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "counts")
	cmd := r.bare(r.adze("go"))
	cmd.Path, cmd.Env = self, append(cmd.Env, countsInside+"="+file)
	r.measure(cmd)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(raw), &allocations, &size); err != nil {
		t.Fatal(err)
	}
	return allocations, size
}

// TestCountsOfAllocations counts those of one prompt, and of turns of a read; and the bytes of the
// first request.
func TestCountsOfAllocations(t *testing.T) {
	r := newRatchet(t)
	once := func(calls int) (allocations, size, first int64) {
		on := turns(t, "read", calls)
		allocations, size = on.allocated(t)
		return allocations, size, on.server.firstBody.Load()
	}
	run := func(calls int) (allocations, size, first int64) { // a difference has the noise of both
		allocations, size, first = once(calls)
		for range 3 {
			n, b, _ := once(calls)
			allocations, size = min(n, allocations), min(b, size)
		}
		return allocations, size, first
	}
	r.least(func() map[string]int64 {
		one, oneBytes, first := run(0)
		some, someBytes, _ := run(few)
		more, moreBytes, _ := run(many)
		return map[string]int64{
			"first request: bytes": first, "prompt: allocations": one, "prompt: bytes allocated": oneBytes,
			"read × 20: allocations": more - some, "read × 20: bytes allocated": moreBytes - someBytes,
		}
	})
}

// TestTheTableOfCountsHoldsEachOnce finds a line that another one takes the place of.
func TestTheTableOfCountsHoldsEachOnce(t *testing.T) {
	raw, err := os.ReadFile(countsFile)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "#" {
			names = append(names, strings.Join(fields[:len(fields)-1], " "))
		}
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("%s holds a line twice: %q", countsFile, names)
	}
}
