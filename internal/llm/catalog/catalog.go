// Package catalog knows what models can take and what they cost: a small table in this folder,
// which the user's configuration extends.
//
// The one rule: never guess. A model without a row has no price, and neither has a request that
// needs a number its row does not hold.
//
// Start reading at Find and Row.Cost; models.txt is the table and says how it is written.
//
// Known limits: prices change after the date of their row, and other tiers (batch, priority,
// contracts) are not in it; the configuration is where they go.
package catalog

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed models.txt
var source string

// Row is what is known of one model.
type Row struct {
	Model   string // provider/name; a last * stands for any rest
	Context int    // tokens that fit into a request with its answer; if 0, unknown
	Output  int    // tokens of the longest answer; if 0, unknown
	Vision  bool
	Tools   bool
	// Documents: it reads PDF files. Thinking: it can reason before it answers.
	Documents, Thinking bool
	Rate                Rate
	// Over is the prompt in tokens above which Long counts for the whole request; if 0, Rate always
	// does.
	Over int
	Long Rate
	// Until is the last day on which the row counts, as 2006-01-02; if empty, no end is known.
	Until string
	// Source and Date are the page that tells this, and the day it was read.
	Source, Date string
}

// Rate is what a million tokens cost in USD; nil is not known, which is not the same as free.
type Rate struct{ Input, Output, CacheRead, CacheWrite *float64 }

// Tokens are those of one request. Input does not hold those of the cache.
type Tokens struct{ Input, Output, CacheRead, CacheWrite int }

// Cost is what one request costs in USD. It is not known when a rate that it needs is not, or when
// the provider counted nothing.
func (r Row) Cost(t Tokens) (usd float64, known bool) {
	rate := r.Rate
	if r.Over > 0 && t.Input+t.CacheRead+t.CacheWrite > r.Over {
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

// Priced reports whether the row can tell the cost of an ordinary request.
func (r Row) Priced() bool { return r.Rate.Input != nil && r.Rate.Output != nil }

// Find returns the first row for a model, as provider/name, that counts on a day, as 2006-01-02.
func Find(rows []Row, model, day string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool {
		return matches(r.Model, model) && (r.Until == "" || day <= r.Until)
	})
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// Known returns the rows of the embedded table. It is read once, when it is first asked for.
func Known() ([]Row, error) {
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

// matches lets a row stand for its dated versions only: gpt-5.4 is neither gpt-5.4-mini nor
// gpt-5.4-pro.
func matches(row, model string) bool {
	if start, open := strings.CutSuffix(row, "*"); open {
		return strings.HasPrefix(model, start)
	}
	rest, ok := strings.CutPrefix(model, row)
	return ok && (rest == "" || dated(rest))
}

// dated recognizes -20251101 and -2025-11-01.
func dated(s string) bool {
	digits := strings.ReplaceAll(s, "-", "")
	if len(digits) != 8 || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	return s == "-"+digits || s == "-"+digits[:4]+"-"+digits[4:6]+"-"+digits[6:]
}
