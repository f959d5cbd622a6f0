package overlay

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
	"adze/internal/testkit/effort"
)

// applying says in a variable which round the process applies, or that it recovers: see
// killedProcess.
const applying = "ADZE_OVERLAY_APPLIES"

func TestMain(m *testing.M) {
	if order := os.Getenv(applying); order != "" {
		if err := killedProcess(order); err != nil {
			fmt.Println("!" + err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killedProcess applies the changes of a round, or recovers in round 0, and writes a line at each
// moment.
func killedProcess(order string) error {
	var round int
	var home, root string
	if _, err := fmt.Sscan(order, &round, &home, &root); err != nil {
		return err
	}
	entry.Moment = func() { fmt.Println("moment") }
	if round == 0 {
		_, err := Recover(home)
		return err
	}
	v, err := Make(home, []apply.Root{{Path: root}})
	if err != nil {
		return err
	}
	if err := roundOf(v.UpperFolder(0), root, round); err != nil {
		return err
	}
	changes, err := v.Changes()
	if err != nil {
		return err
	}
	fmt.Println("moment")
	out, err := v.Apply(changes)
	if err != nil || len(out.Unapplied) > 0 {
		return fmt.Errorf("%+v %w", out.Unapplied, err)
	}
	if err := v.Retire(); err != nil {
		return err
	}
	fmt.Println("moment")
	return v.Close()
}

const filesOfARound = 12

// roundOf makes what a command changes in a round: files, a folder in the place of another, a link,
// a mode, and names that go.
func roundOf(upper, root string, round int) error {
	var errs []error
	text := []byte(strconv.Itoa(round))
	for i := range filesOfARound {
		errs = append(errs, os.WriteFile(filepath.Join(upper, fmt.Sprint("file-", i)), text, 0o644))
	}
	errs = append(errs, os.Mkdir(filepath.Join(upper, "tree"), 0o755), unix.Lsetxattr(filepath.Join(upper, "tree"), "user.overlay.opaque", []byte("y"), 0),
		os.WriteFile(filepath.Join(upper, "tree/in"), text, 0o644), os.Symlink(string(text), filepath.Join(upper, "link")),
		os.Mkdir(filepath.Join(upper, "mode"), 0o700|os.FileMode(round%8)), os.Chmod(filepath.Join(upper, "mode"), 0o700|os.FileMode(round%8)),
		os.WriteFile(filepath.Join(upper, "made-"+string(text)), text, 0o644))
	errs = append(errs, identities(upper, root, round))
	gone, err := filepath.Glob(filepath.Join(root, "made-*"))
	for _, path := range gone {
		errs = append(errs, unix.Mknod(filepath.Join(upper, filepath.Base(path)), unix.S_IFCHR, 0))
	}
	return errors.Join(append(errs, err)...)
}

// copyUp makes of a file in a root what the kernel makes of it in the upper folder.
func copyUp(root, upper, from, to string) error {
	data, err := os.ReadFile(filepath.Join(root, from))
	if err != nil {
		return err
	}
	at := filepath.Join(upper, to)
	info, err := os.Stat(filepath.Join(root, from))
	if err != nil {
		return err
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	accessed := time.Unix(st.Atim.Unix())
	return errors.Join(os.WriteFile(at, data, info.Mode()), unix.Lsetxattr(at, "user.overlay.origin", nil, 0), os.Chtimes(at, accessed, info.ModTime()))
}

// bodyOf is a text of a round that is longer than what is compared at once, and differs from that of
// other rounds in its middle and its length.
func bodyOf(round int) string {
	return strings.Repeat("same", entry.BlockSize/2) + fmt.Sprint("round ", round) + strings.Repeat("same", entry.BlockSize/3+round%5)
}

// identities changes files in place, and renames and links others: each round has them elsewhere.
func identities(upper, root string, round int) error {
	now := map[string]string{"body": bodyOf(round), "grown": strings.Repeat("line\n", round), fmt.Sprint("name-", round%3): "named\n", fmt.Sprint("twin-", round%2): "named\n"}
	if round == 1 {
		var errs []error
		for name, text := range now {
			errs = append(errs, os.WriteFile(filepath.Join(upper, name), []byte(text), 0o644))
		}
		return errors.Join(errs...)
	}
	was, twin := fmt.Sprint("name-", (round-1)%3), fmt.Sprint("twin-", (round-1)%2)
	name := fmt.Sprint("name-", round%3)
	err := errors.Join(copyUp(root, upper, "body", "body"), copyUp(root, upper, "grown", "grown"), copyUp(root, upper, was, name),
		os.Link(filepath.Join(upper, name), filepath.Join(upper, fmt.Sprint("twin-", round%2))), unix.Mknod(filepath.Join(upper, was), unix.S_IFCHR, 0), unix.Mknod(filepath.Join(upper, twin), unix.S_IFCHR, 0))
	return errors.Join(err, os.WriteFile(filepath.Join(upper, "body"), []byte(now["body"]), 0o644), os.WriteFile(filepath.Join(upper, "grown"), []byte(now["grown"]), 0o644))
}

// TestKilledProcessesLeaveNothingHalf kills a process with signal 9 while it applies changes, at a
// moment that nobody chose, and often the one that finishes them too. Then the folder is as before
// the round or after it, and nothing else is there. ADZE_TESTS says how often.
func TestKilledProcessesLeaveNothingHalf(t *testing.T) {
	kills := effort.Rounds(12, 50, 1000)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for name, home := range homes(t) {
		t.Run(name, func(t *testing.T) {
			k := killing{T: t, home: home, root: t.TempDir(), r: r, moments: 40}
			k.round = 1
			if err := os.Mkdir(filepath.Join(k.root, "mode"), 0o755); err != nil {
				t.Fatal(err)
			}
			k.run(1, -1)
			k.remember()
			if k.half() != "" || k.at() != 1 {
				t.Fatalf("the first round: %s", k.half())
			}
			for k.killed < (kills+1)/2 {
				k.next()
				if t.Failed() {
					t.Fatalf("seed %d, round %d, kill %d", seed, k.round, k.killed)
				}
			}
			t.Logf("seed %d: %d processes were killed while they applied, %d while they recovered; %d rounds came to be, %d did not", seed, k.killed, k.recovering, k.applied, k.undone)
		})
	}
}

type killing struct {
	*testing.T
	home, root      string
	r               *rand.Rand
	round, moments  int
	kept            [2]uint64
	killed          int
	recovering      int
	applied, undone int
}

// run has a process do a round, and kills it after some of its lines; if -1, never. It reports
// whether it was.
func (k *killing) run(round, after int) (killed bool) {
	k.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", applying, round, k.home, k.root))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		k.Fatal(err)
	}
	lines, n := bufio.NewScanner(out), 0
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "!") {
			k.Error(lines.Text())
		}
		if n++; n == after {
			_ = cmd.Process.Signal(syscall.SIGKILL) // it goes on until that arrives
		}
	}
	_ = cmd.Wait()
	if round > 0 && after < 0 {
		k.moments = n
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status.Signaled() && status.Signal() == syscall.SIGKILL
}

// inodes are those of the files that keep theirs.
func (k *killing) inodes() (out [2]uint64) {
	for i, name := range []string{"body", "grown"} {
		if st, err := entry.StatAt(unix.AT_FDCWD, filepath.Join(k.root, name)); err == nil {
			out[i] = st.Ino
		}
	}
	return out
}

func (k *killing) remember() { k.kept = k.inodes() }

func (k *killing) next() {
	k.Helper()
	was := k.round
	k.round++
	if k.run(k.round, 1+k.r.IntN(k.moments)) {
		k.killed++
	}
	for k.r.IntN(2) == 0 {
		if k.run(0, 1+k.r.IntN(k.moments/2)) {
			k.recovering++
		}
	}
	k.run(0, -1)
	if why := k.half(); why != "" {
		k.Error(why)
	}
	if now := k.inodes(); now != k.kept {
		k.Errorf("the files have the inodes %v, had %v", now, k.kept)
	}
	switch k.at() {
	case k.round:
		k.applied++
	case was:
		k.undone++
		k.round = was
	default:
		k.Errorf("the folder is of round %d", k.at())
	}
}

// at is the round that the folder is of, by one of its files.
func (k *killing) at() int {
	data, err := os.ReadFile(filepath.Join(k.root, "file-0"))
	n, err2 := strconv.Atoi(string(data))
	if err := errors.Join(err, err2); err != nil {
		k.Fatal(err)
	}
	return n
}

// half says what is not of the round that the folder is of, or should not be there.
func (k *killing) half() string {
	round := k.at()
	want := map[string]string{"link": fmt.Sprint(round), "tree": "", "tree/in": fmt.Sprint(round), "mode": "", fmt.Sprint("made-", round): fmt.Sprint(round)}
	want["body"], want["grown"], want[fmt.Sprint("name-", round%3)], want[fmt.Sprint("twin-", round%2)] = bodyOf(round), strings.Repeat("line\n", round), "named\n", "named\n"
	for i := range filesOfARound {
		want[fmt.Sprint("file-", i)] = fmt.Sprint(round)
	}
	var wrong []string
	err := filepath.WalkDir(k.root, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(k.root, path)
		if name == "." || err != nil {
			return err
		}
		content, known := want[name]
		delete(want, name)
		var got []byte
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			link, _ := os.Readlink(path)
			got = []byte(link)
		case !e.IsDir():
			got, err = os.ReadFile(path)
		}
		if len(got) > 100 && string(got) != content {
			got = got[:100]
		}
		if !known || string(got) != content {
			wrong = append(wrong, fmt.Sprintf("%s is %q", name, got))
		}
		return err
	})
	if info, err := os.Stat(filepath.Join(k.root, "mode")); err != nil || info.Mode().Perm() != 0o700|fs.FileMode(round%8) {
		wrong = append(wrong, fmt.Sprint("mode: ", info.Mode()))
	}
	if names, _ := os.ReadDir(k.home); len(names) > 0 {
		for _, n := range names {
			if n.Name() != apply.KeptName {
				wrong = append(wrong, n.Name()+" is left in the home of views")
			}
		}
	}
	if err != nil || len(wrong) > 0 || len(want) > 0 {
		return fmt.Sprintf("of round %d: wrong %v, missing %v, %v", round, wrong, want, err)
	}
	return ""
}
