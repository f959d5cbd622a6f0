package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parse reads the format described in models.txt.
func parse(text string) ([]Row, error) {
	var rows []Row
	var page, date string
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		var err error
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case fields[0] == "@" && len(fields) == 3:
			page, date = fields[1], fields[2]
		case fields[0] == ">" && len(fields) == 6 && len(rows) > 0:
			last := &rows[len(rows)-1]
			last.LongAbove, last.Long, err = long(fields[1:])
		case len(fields) == 8 || len(fields) == 10 && fields[8] == "until":
			var r Row
			r, err = row(fields)
			r.Source, r.Date = page, date
			rows = append(rows, r)
		default:
			err = fmt.Errorf("%q has %d fields", fields[0], len(fields))
		}
		if err != nil {
			return nil, fmt.Errorf("models.txt line %d: %w", n, err)
		}
	}
	return rows, nil
}

func row(fields []string) (r Row, err error) {
	r.Model = fields[0]
	if r.Context, err = count(fields[1]); err != nil {
		return r, err
	}
	if r.Output, err = count(fields[2]); err != nil {
		return r, err
	}
	if r.Rate, err = rate(fields[3:7]); err != nil {
		return r, err
	}
	for ability := range strings.SplitSeq(fields[7], ",") {
		switch ability {
		case "vision":
			r.Vision = true
		case "tools":
			r.Tools = true
		case "documents":
			r.Documents = true
		case "thinking":
			r.Thinking = true
		default:
			return r, fmt.Errorf("there is no ability %q", ability)
		}
	}
	if len(fields) == 10 {
		r.ValidUntil = fields[9]
	}
	return r, nil
}

func long(fields []string) (over int, r Rate, err error) {
	if over, err = count(fields[0]); err != nil {
		return 0, r, err
	}
	r, err = rate(fields[1:])
	return over, r, err
}

// rate parses input, output, cache read and cache write.
func rate(fields []string) (r Rate, err error) {
	for i, into := range []**float64{&r.Input, &r.Output, &r.CacheRead, &r.CacheWrite} {
		if fields[i] == "-" {
			continue
		}
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return r, fmt.Errorf("%q is no price", fields[i])
		}
		*into = &v
	}
	return r, nil
}

func count(s string) (int, error) {
	if s == "-" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is no number of tokens", s)
	}
	return n, nil
}
