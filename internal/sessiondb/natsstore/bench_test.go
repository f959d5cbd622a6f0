package natsstore

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/testkit/natstest"
	"adze/internal/testkit/storetest"
	"adze/session"
)

// longTimes keep a busy machine from losing leases in a benchmark.
var longTimes = natsclient.LeaseTimes{Live: time.Hour, Renew: time.Hour, Lose: time.Hour}

// BenchmarkAppend takes turns with the bare client, which sends a message of the same size with the
// same fence: both are slowed alike by whatever else the machine does.
func BenchmarkAppend(b *testing.B) {
	for name, start := range map[string]func(testing.TB, natstest.Options) *natstest.Cluster{"one": natstest.Start, "three": natstest.StartCluster} {
		b.Run(name, func(b *testing.B) {
			s := opened(b, start(b, natstest.Options{}).URL(), Options{Times: longTimes})
			if _, err := s.conn.Stream(b.Context(), jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare"}}); err != nil {
				b.Fatal(err)
			}
			if err := s.Append(b.Context(), "one", storetest.Entry(0)); err != nil {
				b.Fatal(err)
			}
			last, err := s.last(b.Context(), "one")
			if err != nil {
				b.Fatal(err)
			}
			var ours, bare time.Duration
			sequence := uint64(0)
			for n := 1; b.Loop(); n++ {
				began := time.Now()
				if err := s.Append(b.Context(), "one", storetest.Entry(n)); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(began)
				began = time.Now()
				ack, err := s.conn.JetStream().Publish(b.Context(), "bare", last.Data, jetstream.WithExpectLastSequencePerSubject(sequence))
				if err != nil {
					b.Fatal(err)
				}
				sequence = ack.Sequence
				bare += time.Since(began)
			}
			b.ReportMetric(float64(bare)/float64(ours), "of-bare")
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/append")
		})
	}
}

// BenchmarkList lists 5,000 sessions.
func BenchmarkList(b *testing.B) {
	if os.Getenv("ADZE_BENCH_LIST") == "" {
		b.Skip("makes 5,000 sessions: with ADZE_BENCH_LIST only")
	}
	s := opened(b, natstest.Start(b, natstest.Options{Lazy: true}).URL(), Options{Times: longTimes})
	for n := range 5000 {
		id := session.ID(fmt.Sprint("session", n))
		next, lines := tip{}.follow(id, []session.Entry{storetest.Entry(n)})
		text, err := s.encode(b.Context(), 1, lines)
		if err != nil {
			b.Fatal(err)
		}
		m := message(id, next, text)
		if _, err := s.publish(b.Context(), tip{}, m); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if heads, err := s.List(b.Context()); err != nil || len(heads) != 5000 {
			b.Fatal(len(heads), err)
		}
	}
}
