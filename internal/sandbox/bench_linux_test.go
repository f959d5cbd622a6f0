package sandbox_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"adze/internal/proc"
	"adze/internal/sandbox"
)

// BenchmarkTrue is the least command: supervised, and in a sandbox of each means. On a busy machine look at cpu-ms/op, the
// processor time of everybody who takes part.
func BenchmarkTrue(b *testing.B) {
	for _, means := range []sandbox.Means{sandbox.None, sandbox.Landlock, sandbox.Namespaces, sandbox.Bubblewrap, sandbox.BwrapAlone} {
		b.Run(string(means), func(b *testing.B) {
			bench := newBench(b, means)
			s := proc.Supervisor{}
			if means != sandbox.None {
				s.Cage = sandbox.ByMeans(bench.box, means)
			}
			before := processorTime()
			for b.Loop() {
				r, err := s.Run(context.Background(), proc.Command{Argv: []string{"true"}, Dir: bench.work, Env: bench.env()})
				if err != nil || r.Err() != nil {
					b.Fatal(err, r.Err())
				}
			}
			b.ReportMetric(float64((processorTime()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

func processorTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		_ = syscall.Getrusage(who, &r)
		sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return sum
}
