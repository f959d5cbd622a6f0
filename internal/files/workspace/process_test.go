package workspace_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/testkit/effort"
)

// writerEnv makes the test binary a second process that writes without end.
const writerEnv = "ADZE_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeWithoutEnd(dir)
	}
	os.Exit(m.Run())
}

// letters is one of the contents that the other process writes: 1 MB of one letter.
func letters(c byte) string { return strings.Repeat(string(c), 1<<20) }

func writeWithoutEnd(dir string) {
	root, err := workspace.OpenWith(dir, workspace.Options{LockDir: filepath.Join(filepath.Dir(dir), "locks")})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		p, err := root.Resolve("sub/file")
		if err == nil {
			_, err = root.Update(context.Background(), p, whole(letters("ab"[i%2])))
		}
		if err != nil {
			panic(err)
		}
		fmt.Println(i)
	}
}

// A process killed in the middle of writing leaves the old file or the new one; its lock is free,
// and the next write removes what it left.
func TestKilledWriterLeavesOldOrNew(t *testing.T) {
	rounds := effort.Rounds(3, 8, 8)
	p := open(t)
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+p.dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n <= round && lines.Scan(); n++ {
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if got := p.content("sub/file"); got != letters('a') && got != letters('b') {
			t.Fatalf("round %d: %d bytes, neither old nor new", round, len(got))
		}
		if _, err := p.write("sub/file", "after"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.tree(), " "); got != "sub sub/file" {
			t.Fatalf("round %d left %s", round, got)
		}
	}
}

// Two processes that add to one file lose nothing of each other.
func TestProcessesTakeTurns(t *testing.T) {
	p := open(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+p.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	bufio.NewScanner(out).Scan()
	go func() { // keep it from blocking on a full pipe
		for s := bufio.NewScanner(out); s.Scan(); {
		}
	}()
	for range 20 {
		_, err := p.root.Update(context.Background(), p.resolve("sub/file"), func(cur *workspace.Current) ([]workspace.Splice, error) {
			b, err := cur.Bytes(context.Background(), 2<<20)
			if s := string(b); err == nil && s != letters('a') && s != letters('b') && s != "mine" {
				t.Errorf("%d bytes, half written", len(s))
			}
			return []workspace.Splice{{Len: cur.Size(), Data: []byte("mine")}}, err
		})
		if err != nil {
			t.Fatal(err) // "changed during the write" would mean that the lock does not hold
		}
	}
}
