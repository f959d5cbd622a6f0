package proc_test

import (
	"context"
	"os/exec"
	"testing"

	"adze/internal/sandbox/proc"
)

// BenchmarkTrue compares the smallest command under the shim with the same command started
// directly.
func BenchmarkTrue(b *testing.B) {
	env := []string{"PATH=/usr/bin:/bin"}
	for name, argv := range map[string][]string{
		"true": {"true"},
		"bash": {"bash", "--noprofile", "--norc", "-c", "true"},
	} {
		b.Run(name+"/direct", func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		})
		b.Run(name+"/shim", func(b *testing.B) {
			var s proc.Supervisor
			benchRun(b, s, proc.Command{Argv: argv, Dir: "/", Env: env})
		})
		b.Run(name+"/shim+ledger", func(b *testing.B) {
			s := proc.Supervisor{Ledger: proc.NewLedger(b.TempDir())}
			benchRun(b, s, proc.Command{Argv: argv, Dir: "/", Env: env})
		})
	}
}

func benchRun(b *testing.B, s proc.Supervisor, c proc.Command) {
	b.Helper()
	for b.Loop() {
		r, err := s.Run(context.Background(), c)
		if err != nil || r.Err() != nil {
			b.Fatal(err, r)
		}
	}
}

// BenchmarkFlood50MB is the time to take 50 MB of output, and what it allocates.
func BenchmarkFlood50MB(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r, err := proc.Supervisor{}.Run(context.Background(), proc.Command{
			Argv: []string{"sh", "-c", "yes 0123456789012345678901234567890123456789 | head -c 50000000"},
			Dir:  "/", Env: []string{"PATH=/usr/bin:/bin"},
		})
		if err != nil || r.Output.Bytes != 50_000_000 {
			b.Fatal(err, r.Output.Bytes)
		}
	}
}

// BenchmarkOutputWrite is the cost of a chunk once both ends are full.
func BenchmarkOutputWrite(b *testing.B) {
	o := proc.NewOutput(proc.DefaultHead, proc.DefaultTail)
	chunk := make([]byte, 64<<10)
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		_, _ = o.Write(chunk)
	}
}
