package cmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"adze/internal/sessiondb"
	"adze/internal/sessiondb/audit"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
)

// auditStats counts in one streaming pass. It stores nothing.
func (a *all) auditStats(ctx context.Context, prefix string, asJSON bool) error {
	return a.Store(ctx, func(s *sessiondb.Store) error {
		scan := sessiondb.Scan{Types: audit.StatsTypes(), Paths: audit.Paths()}
		if prefix != "" {
			id, err := a.storedSession(ctx, s, []string{prefix})
			if err != nil {
				return err
			}
			scan.Session = id
		}
		var tally audit.Tally
		err := s.ScanEach(ctx, scan, func(f sessiondb.ScanResult) error {
			tally.Add(f.Session, f.Entry.Type, f.Entry.Data)
			return ctx.Err()
		})
		if err != nil {
			return Readable(err)
		}
		if asJSON {
			a.ShowJSON(tally.Stats())
			return nil
		}
		var b strings.Builder
		err = statsText(&b, tally.Stats())
		fmt.Fprint(a.Stdout(), b.String())
		return err
	})
}

func statsText(out io.Writer, s audit.Stats) error {
	fmt.Fprintf(out, "%s · %s, %d failed · %s · tokens: %s\n",
		plural.Of(s.Sessions, "session"), plural.Of(s.Requests, "model request"), s.Failed, plural.Of(s.Calls, "call"), usageText(s.Usage))
	if s.Unreadable > 0 {
		fmt.Fprintf(out, "%d entries cannot be read; adze audit verify --all names them\n", s.Unreadable)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(s.Tools) > 0 {
		fmt.Fprintf(table, "\ntool\tcalls\tnot completed\trepaired\tp50 ms\tp99 ms\twhy not\n")
	}
	for _, g := range s.Tools {
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%.1f\t%.1f\t%s\n", safeterm.Name(g.Name), g.Calls, share(g.Failures(), g.Calls),
			g.Repaired, g.Latency.P50, g.Latency.P99, safeterm.Name(failureCodes(g)))
	}
	if len(s.Models) > 0 {
		fmt.Fprintf(table, "\nmodel\trequests\tfailed\tp50 ms\tp99 ms\tcalls\tnot completed\trepaired\ttokens\n")
	}
	for _, m := range s.Models {
		fmt.Fprintf(table, "%s\t%d\t%d\t%.0f\t%.0f\t%d\t%s\t%d\t%s\n", safeterm.Name(m.Name), m.Requests, m.Failed, m.Answers.P50, m.Answers.P99,
			m.Calls, share(m.Failures(), m.Calls), m.Repaired, usageText(m.Usage))
	}
	return table.Flush()
}

// share formats a count with its percentage.
func share(n, of int) string {
	if n == 0 || of == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(of))
}

// failureCodes lists codes, the most frequent first.
func failureCodes(g audit.Group) string {
	codes := slices.Sorted(maps.Keys(g.Codes))
	slices.SortStableFunc(codes, func(a, b string) int { return g.Codes[b] - g.Codes[a] })
	for i, code := range codes {
		codes[i] = fmt.Sprintf("%d %s", g.Codes[code], code)
	}
	if n := g.Status[tool.Aborted]; n > 0 && g.Codes[tool.CodeAborted] == 0 {
		codes = append(codes, fmt.Sprintf("%d aborted", n))
	}
	return strings.Join(codes, ", ")
}

func usageText(u session.Usage) string {
	text := fmt.Sprintf("%d in, %d out", u.Input, u.Output)
	if u.CacheRead+u.CacheWrite > 0 {
		text += fmt.Sprintf(", %d cached", u.CacheRead+u.CacheWrite)
	}
	return text
}
