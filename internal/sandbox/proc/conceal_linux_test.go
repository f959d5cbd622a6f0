package proc_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/proc"
)

// concealed marks a child of this test that conceals itself and tells what is left to see.
const concealed = "ADZE_TEST_CONCEALED"

func TestConceal(t *testing.T) {
	if os.Getenv(concealed) != "" {
		proc.Conceal()
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		block, _ := os.ReadFile("/proc/self/environ")
		self, _ := os.Executable() // a concealed process can still start itself
		out, selfErr := exec.Command("/proc/self/exe", "-test.run=^$").CombinedOutput()
		t.Logf("dumpable %d %v; block %q; still %s; self %v %s %s", dumpable, err, strings.Trim(string(block), "\x00"), os.Getenv("A_SECRET"), selfErr, self, out)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestConceal$", "-test.v")
	cmd.Env = append(os.Environ(), concealed+"=1", "A_SECRET=planted-word", proc.Mark+"=call-1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"dumpable 0 <nil>;", `block "ADZE_CALL=call-1";`, "still planted-word;", "self <nil>"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func BenchmarkConceal(b *testing.B) {
	if os.Getenv(concealed) == "" {
		b.Skip("it would conceal the benchmark; run it with " + concealed + "=1")
	}
	for b.Loop() {
		proc.Conceal()
	}
}
