package metric_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"adze/internal/telemetry/metric"
)

// TestPrometheusReadsWhatIsWritten has its own parser read every kind of family, with labels that
// must be escaped.
func TestPrometheusReadsWhatIsWritten(t *testing.T) {
	s := &metric.Set{}
	odd := "a\\b\"c\nd ä\xff}"
	s.Counter("c_total", "Counts\\ and\nbreaks.", "name", "kind").Add(2.5, odd, "")
	s.Counter("zero_total", "Nothing yet.")
	g := s.Gauge("g", "Rises.")
	g.Add(5)
	g.Add(-7)
	s.Asked("asked", "Asked.", func() (float64, bool) { return math.Inf(1), true })
	s.Asked("unknown", "Not known.", func() (float64, bool) { return 0, false })
	h := s.Histogram("h_seconds", "Spreads.", []float64{0.1, 1}, "tool")
	for _, v := range []float64{0.05, 0.1, 0.5, 3} {
		h.Observe(v, "read")
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(s.Text()))
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Text())
	}
	if len(got) != 5 || got["unknown"] != nil {
		t.Errorf("%d families\n%s", len(got), s.Text())
	}
	c := got["c_total"]
	if c.GetType().String() != "COUNTER" || c.GetMetric()[0].GetCounter().GetValue() != 2.5 || c.GetHelp() != "Counts\\ and\nbreaks." {
		t.Errorf("%v", c)
	}
	if name := c.GetMetric()[0].GetLabel()[0].GetValue(); name != strings.ToValidUTF8(odd, "�") {
		t.Errorf("a label came back as %q", name)
	}
	if v := got["g"].GetMetric()[0].GetGauge().GetValue(); v != -2 {
		t.Errorf("the gauge is %v", v)
	}
	if v := got["asked"].GetMetric()[0].GetGauge().GetValue(); !math.IsInf(v, 1) {
		t.Errorf("the asked gauge is %v", v)
	}
	d := got["h_seconds"].GetMetric()[0].GetHistogram()
	var counts []string
	for _, b := range d.GetBucket() {
		counts = append(counts, fmt.Sprint(b.GetUpperBound(), ":", b.GetCumulativeCount()))
	}
	if text := strings.Join(counts, " "); text != "0.1:2 1:3 +Inf:4" || d.GetSampleCount() != 4 || d.GetSampleSum() != 3.65 {
		t.Errorf("the histogram is %s, %d, %v", text, d.GetSampleCount(), d.GetSampleSum())
	}
}

// However many names come, the series of a family are bounded and nothing is lost of the sum.
func TestSeriesAreBounded(t *testing.T) {
	s := &metric.Set{}
	c := s.Counter("c_total", "Counts.", "name")
	for i := range 10000 {
		c.Add(1, fmt.Sprint("n", i))
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(s.Text()))
	if err != nil {
		t.Fatal(err)
	}
	sum, series := 0.0, got["c_total"].GetMetric()
	for _, m := range series {
		sum += m.GetCounter().GetValue()
	}
	if len(series) > 201 || sum != 10000 {
		t.Errorf("%d series, %v in all", len(series), sum)
	}
}
