package sandbox_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

// BenchmarkTrue is the least command: supervised, and in a sandbox of each means. On a busy machine
// look at cpu-ms/op, the processor time of everybody who takes part.
func BenchmarkTrue(b *testing.B) {
	for _, means := range []sandbox.Technique{sandbox.None, sandbox.Landlock, sandbox.Namespaces} {
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

// BenchmarkConnect connects to a socket of the command's own a thousand times in one command.
func BenchmarkConnect(b *testing.B) {
	need(b, "python3")
	const script = `
import os, socket, time
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(8)
for blocking in True, False:
    took = 0
    for i in range(1000):
        c = socket.socket(socket.AF_UNIX); c.setblocking(blocking)
        before = time.perf_counter(); c.connect("s"); took += time.perf_counter() - before
        s.accept()[0].close(); c.close()
    print(took * 1000)
os.unlink("s")`
	for _, means := range []sandbox.Technique{sandbox.None, sandbox.Landlock, sandbox.Namespaces} {
		b.Run(string(means), func(b *testing.B) {
			bench := newBench(b, means)
			s := proc.Supervisor{}
			if means != sandbox.None {
				s.Cage = sandbox.ByMeans(bench.box, means)
			}
			var took [2]float64
			for b.Loop() {
				r, err := s.Run(context.Background(), proc.Command{Argv: []string{"python3", "-c", script}, Dir: bench.work, Env: bench.env()})
				if err != nil || r.Err() != nil {
					b.Fatal(err, r.Err(), text(r))
				}
				var now [2]float64
				_, _ = fmt.Sscan(text(r), &now[0], &now[1])
				took[0], took[1] = took[0]+now[0], took[1]+now[1]
			}
			b.ReportMetric(took[0]/float64(b.N), "blocking-µs/connect")
			b.ReportMetric(took[1]/float64(b.N), "nonblocking-µs/connect")
		})
	}
}
