// Package catalog holds context sizes and prices of models: a small table in this folder, which the
// user's configuration extends.
//
// The one rule: never guess. A model without a row has no price, nor has a request that needs a
// rate missing from its row.
//
// Start reading at Find and Row.Cost; models.txt is the table and describes its format.
//
// Known limits: prices change after the date of their row. Other tiers (batch, priority, contracts)
// are not in the table; set them in the configuration.
package catalog

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed models.txt
var source string

// A Row describes one model.
type Row struct {
	Model   string // provider/name; a trailing * matches any rest
	Context int    // in tokens, with the answer; 0 if unknown
	Output  int    // in tokens, of the longest answer; 0 if unknown
	Vision  bool
	Tools   bool
	// Documents: reads PDF files. Thinking: can reason before it answers.
	Documents, Thinking bool
	Rate                Rate
	// LongAbove is the prompt size in tokens above which Long applies to the whole request. If it is
	// 0, Rate always applies.
	LongAbove int
	Long      Rate
	// ValidUntil is the last day on which the row is valid, as 2006-01-02; empty if unlimited.
	ValidUntil string
	// Source is the page with these numbers, and Date the day it was read.
	Source, Date string
}

// A Rate holds prices in USD per million tokens; nil means unknown, not free.
type Rate struct{ Input, Output, CacheRead, CacheWrite *float64 }

// Tokens counts one request's tokens. Input excludes cached tokens.
type Tokens struct{ Input, Output, CacheRead, CacheWrite int }

// Cost returns a request's price in USD. It is unknown if a needed rate is, or if the provider
// counted nothing.
func (r Row) Cost(t Tokens) (usd float64, known bool) {
	rate := r.Rate
	if r.LongAbove > 0 && t.Input+t.CacheRead+t.CacheWrite > r.LongAbove {
		rate = r.Long
	}
	for _, part := range []struct {
		count int
		price *float64
	}{{t.Input, rate.Input}, {t.Output, rate.Output}, {t.CacheRead, rate.CacheRead}, {t.CacheWrite, rate.CacheWrite}} {
		switch {
		case part.count < 0 || part.count > 0 && part.price == nil:
			return 0, false
		case part.count > 0:
			usd += float64(part.count) * *part.price / 1e6
		}
	}
	return usd, t != Tokens{}
}

// Priced reports whether the row has the rates of an ordinary request.
func (r Row) Priced() bool { return r.Rate.Input != nil && r.Rate.Output != nil }

// Find returns the first row for a model, as provider/name, that is valid on a day, as 2006-01-02.
func Find(rows []Row, model, day string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool {
		return matches(r.Model, model) && (r.ValidUntil == "" || day <= r.ValidUntil)
	})
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// Rows returns the rows of the embedded table, which it parses on the first call.
func Rows() ([]Row, error) {
	t := table()
	return t.rows, t.err
}

type parsed struct {
	rows []Row
	err  error
}

var table = sync.OnceValue(func() parsed {
	rows, err := parse(source)
	return parsed{rows, err}
})

// matches accepts dated versions of a row's model only: gpt-5.4 matches neither gpt-5.4-mini nor
// gpt-5.4-pro.
func matches(row, model string) bool {
	if start, open := strings.CutSuffix(row, "*"); open {
		return strings.HasPrefix(model, start)
	}
	rest, ok := strings.CutPrefix(model, row)
	return ok && (rest == "" || dated(rest))
}

func dated(s string) bool {
	digits := strings.ReplaceAll(s, "-", "")
	if len(digits) != 8 || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	return s == "-"+digits || s == "-"+digits[:4]+"-"+digits[4:6]+"-"+digits[6:]
}
