package draw

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tool"
)

// Brief limits a block's rows in the conversation. A count for the other rows follows, with the key
// that shows them.
type Brief struct {
	Rows int
	Key  string
}

// rest counts omitted rows, on the last row if it fits.
func (t *Theme) rest(dst []Row, n int, b Brief, w int) []Row {
	if n <= 0 {
		return dst
	}
	text := "… " + plural.Thousands(n) + " more"
	if b.Key != "" {
		text += " · " + b.Key
	}
	count, last := t.Line(Dim, safeterm.Name(text)), len(dst)-1
	if last >= 0 && dst[last].Width()+2+count.Width() <= w {
		dst[last] = t.Pen().Row(dst[last]).Fixed(Plain, "  ").Row(count).Done()
		return dst
	}
	return append(dst, count.Fit(w))
}

// FailureLines appends the output lines that explain a command's failure: those with a file, an
// error or a test. If there are none, it appends the last lines.
func (t *Theme) FailureLines(dst []Row, b tool.Block, w int, brief Brief) []Row {
	text := strings.TrimRight(safeterm.Output(b.Text).String(), "\n")
	if strings.TrimSpace(text) == "" {
		return dst
	}
	lines := strings.Split(text, "\n")
	chosen := telling(lines, brief.Rows)
	if len(lines) == len(chosen)+1 && b.Total <= len(lines) { // the count would take the same row as the last line
		chosen = nil
		for i := range lines {
			chosen = append(chosen, i)
		}
	}
	for _, i := range chosen {
		dst = append(dst, t.Line(Plain, safeterm.Clean(flat(strings.TrimSpace(lines[i]), 0))).Fit(w))
	}
	return t.rest(dst, max(b.Total, len(lines))-len(chosen), brief, w)
}

// Last appends a command's last n output lines.
func (t *Theme) Last(dst []Row, b tool.Block, w, n int) []Row {
	text := strings.TrimRight(safeterm.Output(b.Text).String(), "\n")
	if text == "" {
		return dst
	}
	shown, _ := lastLines(text, n)
	for line := range strings.SplitSeq(shown, "\n") {
		dst = append(dst, t.Line(Plain, safeterm.Clean(flat(line, 0))).Fit(w))
	}
	return dst
}

// telling finds the n highest-scoring lines, in order. Among equal scores the first lines win,
// because they often cause later failures.
func telling(lines []string, n int) []int {
	type scored struct{ at, score int }
	signs := tellingSigns()
	all := make([]scored, 0, len(lines))
	seen := map[string]bool{}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || seen[line] || framing().MatchString(line) {
			continue
		}
		seen[line] = true
		s := scored{at: i}
		for _, sign := range signs {
			if sign.of.MatchString(line) {
				s.score += sign.worth
			}
		}
		if s.score > 0 {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	var out []int
	for _, s := range all[:min(len(all), n)] {
		out = append(out, s.at)
	}
	for i := len(lines) - 1; i >= 0 && len(all) == 0 && len(out) < n; i-- {
		if strings.TrimSpace(lines[i]) != "" {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// framing matches a line that only repeats the failure.
var framing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(FAIL(ED)?|exit status \d+|Error: exit status \d+)$`)
})

// tellingSign is a pattern and its score.
type tellingSign struct {
	of    *regexp.Regexp
	worth int
}

// tellingSigns returns patterns for file positions, error words and test results. Lines that match
// none score 0.
var tellingSigns = sync.OnceValue(func() []tellingSign {
	return []tellingSign{
		{regexp.MustCompile(`[\w/.\\-]+\.\w{1,5}(:\d+|\(\d+[,)])|File ".*", line \d+`), 3},
		{regexp.MustCompile(`(?i)\b(error|panic|fatal|exception|undefined|undeclared|cannot|can't|could not|not found|no such|denied|refused|unexpected|mismatch)\b|^\w*(Error|Exception)\b`), 2},
		{regexp.MustCompile(`(?i)\b(want|wanted|expected|got|actual|assert\w*)\b`), 2},
		{regexp.MustCompile(`--- FAIL|^FAIL:? \S|^not ok\b|^\s*[✗✕×●] |\bFAILED\b`), 2},
		{regexp.MustCompile(`(?i)\bfail(s|ed|ure)?\b`), 1},
	}
})
