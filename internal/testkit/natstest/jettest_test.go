package natstest

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/testkit/posix"
)

// TestNothingIsLeftWhenTheTestIsKilled runs itself, has the copy start a server, and kills it.
func TestNothingIsLeftWhenTheTestIsKilled(t *testing.T) {
	if os.Getenv("ADZE_JETTEST_CHILD") == "1" {
		s := Start(t, Options{}).Servers[0]
		s.Stop() // one that stands still hears nothing
		os.Stdout.WriteString("server " + strconv.Itoa(s.PID()) + "\n")
		select {}
	}
	Program(t)
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), "ADZE_JETTEST_CHILD=1", "TMPDIR="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for text, piece := "", make([]byte, 4096); pid == 0; {
		n, err := out.Read(piece)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		text += string(piece[:n])
		if _, after, found := strings.Cut(text, "server "); found && strings.Contains(after, "\n") {
			pid, _ = strconv.Atoi(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]))
		}
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	if err := until(func() error {
		if posix.Alive(pid) {
			return os.ErrExist
		}
		return nil
	}); err != nil {
		t.Fatalf("server %d is left", pid)
	}
}

func TestClearWaitsForTheFilesOfAStream(t *testing.T) {
	c := Start(t, Options{})
	nc, err := nats.Connect(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
			t.Fatal(err)
		}
		if c.Servers[0].without("S") == nil {
			t.Fatal("the files of a stream are looked for where they are not")
		}
		if err := c.Clear(t.Context(), js); err != nil || c.Servers[0].without("S") != nil {
			t.Fatal(err)
		}
	}
}
