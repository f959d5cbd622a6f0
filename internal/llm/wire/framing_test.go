package wire_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"adze/internal/llm/wire"
)

func readLines(r io.Reader) (lines []string, err error) {
	l := wire.NewLines(r)
	for {
		line, err := l.Next()
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
}

func TestLinesEndInEveryWay(t *testing.T) {
	for text, want := range map[string][]string{
		"":                        nil,
		"a":                       {"a"},
		"a\nb":                    {"a", "b"},
		"a\n\nb\n":                {"a", "", "b"},
		"a\r\nb\r\n\r\n":          {"a", "b", ""},
		"a\rb\r\rc":               {"a", "b", "", "c"},
		"a\r\n\nb":                {"a", "", "b"},
		"\xEF\xBB\xBFdata: x\ny":  {"data: x", "y"},
		"ab\n\xEF\xBB\xBFcd\n":    {"ab", "\xEF\xBB\xBFcd"},
		"a\n" + "\xEF\xBB\xBF\n":  {"a", "\xEF\xBB\xBF"},
		strings.Repeat("x", 9000): {strings.Repeat("x", 9000)},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)),
			"halves": iotest.HalfReader(strings.NewReader(text)), "data with error": iotest.DataErrReader(strings.NewReader(text)),
		} {
			if got, err := readLines(r); !slices.Equal(got, want) || err != io.EOF {
				t.Errorf("%s of %.40q: %.80q, %v", name, text, got, err)
			}
		}
	}
}

func TestLineIsNotMadeOfABrokenStream(t *testing.T) {
	broken := errors.New("broken")
	got, err := readLines(io.MultiReader(strings.NewReader("whole\nunfini"), iotest.ErrReader(broken)))
	if !slices.Equal(got, []string{"whole"}) || err != broken {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLineWithoutEndIsBounded(t *testing.T) {
	if _, err := readLines(io.LimitReader(endless{}, 2*wire.MaxLine)); !errors.Is(err, wire.ErrLong) {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func readEvents(r io.Reader) (events []string, err error) {
	e := wire.NewEvents(r)
	for {
		event, err := e.Next()
		if err != nil {
			return events, err
		}
		events = append(events, string(event.Name)+"|"+string(event.Data))
	}
}

func TestEvents(t *testing.T) {
	for text, want := range map[string][]string{
		"data: a\n\n":                                  {"|a"},
		"data:a\n\ndata:  b\n\n":                       {"|a", "| b"},
		"event: x\ndata: a\n\ndata: b\n\n":             {"x|a", "|b"},
		"event: ping\n\n: comment\n\ndata: a\n\n":      {"|a"},
		"data: a\ndata: b\n\n":                         {"|a\nb"},
		"data\n\ndata: \n\ndata: a\n\n":                {"|a"},
		"x-id: 7\ntrace\ndata: a\nmeta: {}\n\n":        {"|a"},
		"event: heartbeat\ndata: {}\n\ndata: a\n\n":    {"|a"},
		"Data: a\nEVENT: x\n\n":                        {"x|a"},
		"id: 1\nretry: 5\ndata: a\n\n":                 {"|a"},
		"data: a\n\ndata: b":                           {"|a", "|b"},
		"\n\n\n\ndata: a\n\n\n\n":                      {"|a"},
		"data: a\r\n\r\ndata: b\r\n\r\n: ping\r\n\r\n": {"|a", "|b"},
		"data: a\r\rdata: b\r\n\r\n: ping\r\n\r\n":     {"|a", "|b"},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)),
		} {
			if got, err := readEvents(r); !slices.Equal(got, want) || err != io.EOF {
				t.Errorf("%s of %q: %q, %v", name, text, got, err)
			}
		}
	}
}

// A line that is no field is damage, and so is what may be the rest of a data line.
func TestEventsSkipNoDamagedLine(t *testing.T) {
	for _, line := range []string{`{"error":"x"}`, "<html>", "dat: x", "ata: {}", "data : x", "upstream failed", "error: {}", "5: x"} {
		got, err := readEvents(strings.NewReader("data: a\n\n" + line + "\n\ndata: b\n\n"))
		var malformed *wire.MalformedError
		if !errors.As(err, &malformed) || string(malformed.Line) != line || len(got) != 1 {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
}

func TestEventWithoutEndIsBounded(t *testing.T) {
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	if _, err := readEvents(strings.NewReader(strings.Repeat(line, 20))); !errors.Is(err, wire.ErrLong) {
		t.Error(err)
	}
}

// FuzzEvents: how reads split a stream never matters.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: x\r\ndata: a\r\n\r\n: c\ndata: b\r\ndata\n\n"), 3)
	f.Add([]byte("\xEF\xBB\xBFdata: {\"a\":1}\n\n\n"), 1)
	f.Add([]byte("data: a\n\nboo\n\ndata: b"), 2)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		whole, err := readEvents(bytes.NewReader(stream))
		split, errSplit := readEvents(&chunks{stream, max(1, size)})
		if !slices.Equal(whole, split) || (err == io.EOF) != (errSplit == io.EOF) {
			t.Errorf("%q: %q, %v; in pieces of %d: %q, %v", stream, whole, err, size, split, errSplit)
		}
	})
}

// chunks reads at most size bytes at a time.
type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
