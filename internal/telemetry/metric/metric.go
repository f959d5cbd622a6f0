// Package metric counts, and writes what it counted as Prometheus reads it: the text exposition
// format, version 0.0.4.
//
// The one rule: a family has a bounded number of series. What comes beyond it is counted under the
// labels "other", so that neither memory nor the server that reads grows with what models and
// people think of.
//
// Start reading at Set, then write.go. It is no client library: client_golang costs every start of
// adze 1.0 ms of 4 ms for all packages, and 2.8 MB; VictoriaMetrics' client, which costs next to
// nothing, has histograms that Prometheus does not compute quantiles of. The tests read what is
// written with Prometheus' own parser.
//
// Known limits: counters, gauges and histograms with fixed buckets; no exemplars, no summaries.
package metric

import (
	"slices"
	"strings"
	"sync"
)

// maxSeries bounds the series of one family.
const maxSeries = 200

// Other stands for the labels of what came when a family was full.
const Other = "other"

type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// Set is all that one process counts. It is safe for concurrent use.
type Set struct {
	mu       sync.Mutex
	families []*Family
}

// Family is one name with its series.
type Family struct {
	set     *Set
	kind    kind
	name    string
	help    string
	labels  []string
	buckets []float64 // upper bounds, rising
	ask     func() (float64, bool)
	series  map[string]*series
}

type series struct {
	values []string
	value  float64  // of a histogram: the sum
	counts []uint64 // by bucket, the last is for all above
	total  uint64
}

// Seconds are buckets for what takes between some milliseconds and half an hour.
func Seconds() []float64 {
	return []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800}
}

// Counter makes a family of numbers that only grow.
func (s *Set) Counter(name, help string, labels ...string) *Family {
	return s.add(&Family{kind: counter, name: name, help: help, labels: labels})
}

// Gauge makes a family of numbers that rise and fall.
func (s *Set) Gauge(name, help string, labels ...string) *Family {
	return s.add(&Family{kind: gauge, name: name, help: help, labels: labels})
}

// Asked makes a gauge that is asked when it is read; not ok: it is not known now, and left out.
func (s *Set) Asked(name, help string, ask func() (v float64, ok bool)) {
	s.add(&Family{kind: gauge, name: name, help: help, ask: ask})
}

// Histogram makes a family of distributions.
func (s *Set) Histogram(name, help string, buckets []float64, labels ...string) *Family {
	return s.add(&Family{kind: histogram, name: name, help: help, labels: labels, buckets: buckets})
}

func (s *Set) add(f *Family) *Family {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.set, f.series = s, map[string]*series{}
	s.families = append(s.families, f)
	if len(f.labels) == 0 && f.ask == nil {
		f.at(nil) // a count that is 0 is seen
	}
	return f
}

// Add adds to a counter, or changes a gauge.
func (f *Family) Add(v float64, values ...string) {
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	f.at(values).value += v
}

// Set gives a gauge its value.
func (f *Family) Set(v float64, values ...string) {
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	f.at(values).value = v
}

// Observe adds to a histogram.
func (f *Family) Observe(v float64, values ...string) {
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	s := f.at(values)
	at, _ := slices.BinarySearch(f.buckets, v)
	s.counts[at]++
	s.total++
	s.value += v
}

// at finds or makes the series of these values.
func (f *Family) at(values []string) *series {
	if len(values) != len(f.labels) {
		panic("metric: " + f.name + " has other labels")
	}
	key := strings.Join(values, "\x00")
	s, ok := f.series[key]
	if !ok && len(f.series) >= maxSeries && len(values) > 0 {
		values = slices.Repeat([]string{Other}, len(values))
		key = strings.Join(values, "\x00")
		s, ok = f.series[key]
	}
	if !ok {
		s = &series{values: slices.Clone(values), counts: make([]uint64, len(f.buckets)+1)}
		f.series[key] = s
	}
	return s
}
