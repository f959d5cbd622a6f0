package ui

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/text/plural"
)

// Size formats a byte count.
func Size(n int) string { return plural.Size(n) }

// Running returns the time since start: 0 if start is in the future, as after a clock change, and
// false if start is zero.
func Running(now, start time.Time) (time.Duration, bool) {
	if start.IsZero() {
		return 0, false
	}
	return max(now.Sub(start), 0), true
}

// Seconds formats a duration: 0.3 s, 12 s, 3:05, 1:02:03.
func Seconds(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case s < 60:
		return fmt.Sprintf("%d s", s)
	}
	return Clock(d)
}

// Clock formats whole seconds: 0:07, 12:30, 1:02:03.
func Clock(d time.Duration) string {
	s := int(d / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Thousands formats a token count: 999, 12.3k, 1.20M.
func Thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1e6)
}

// FormatSize formats a context size: 200k, 1M.
func FormatSize(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}

// Dollars formats an amount, with four decimals below 10 cents.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Age formats the time since then; from 30 days on it returns a date.
func Age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case d < 0, d >= 30*24*time.Hour:
		return then.Format(time.DateOnly)
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d d ago", d/(24*time.Hour))
}

// PlusMinus formats added and removed lines.
func PlusMinus(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }

// RowsOf formats the range of visible rows.
func RowsOf(from, to, of int) string { return fmt.Sprintf("rows %d–%d of %d", from+1, to, of) }

// longest limits the text for one row, in bytes.
const longest = 1000

// Shorten truncates a text for one row, by bytes and with an ellipsis.
func Shorten(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}

// HoldsAll reports whether a text contains every word.
func HoldsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
