package metric

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ContentType is what Text is served as.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Text is everything that was counted.
func (s *Set) Text() string {
	s.mu.Lock()
	families := slices.Clone(s.families)
	s.mu.Unlock()
	var b strings.Builder
	for _, f := range families {
		f.write(&b)
	}
	return b.String()
}

func (f *Family) write(b *strings.Builder) {
	asked, known := 0.0, false
	if f.ask != nil {
		if asked, known = f.ask(); !known { // outside of the lock: it may ask a server
			return
		}
	}
	f.set.mu.Lock()
	defer f.set.mu.Unlock()
	if len(f.series) == 0 && f.ask == nil {
		return
	}
	b.WriteString("# HELP " + f.name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(f.help) + "\n")
	b.WriteString("# TYPE " + f.name + " " + string(f.kind) + "\n")
	if f.ask != nil {
		f.line(b, "", nil, "", number(asked))
	}
	for _, key := range slices.Sorted(maps.Keys(f.series)) {
		s := f.series[key]
		if f.kind != histogram {
			f.line(b, "", s.values, "", number(s.value))
			continue
		}
		sum := uint64(0)
		for i, n := range s.counts {
			sum += n
			bound := math.Inf(1)
			if i < len(f.buckets) {
				bound = f.buckets[i]
			}
			f.line(b, "_bucket", s.values, number(bound), strconv.FormatUint(sum, 10))
		}
		f.line(b, "_sum", s.values, "", number(s.value))
		f.line(b, "_count", s.values, "", strconv.FormatUint(s.total, 10))
	}
}

// line writes one sample; bound is that of a bucket, empty for others.
func (f *Family) line(b *strings.Builder, suffix string, values []string, bound, value string) {
	b.WriteString(f.name + suffix)
	labels := f.labels
	if bound != "" {
		labels, values = append(slices.Clip(labels), "le"), append(slices.Clip(values), bound)
	}
	for i, name := range labels {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + name + `="` + escaped(values[i]) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	b.WriteString(" " + value + "\n")
}

func escaped(v string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(v, "�"))
}

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
