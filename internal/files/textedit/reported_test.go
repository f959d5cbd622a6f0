package textedit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// reported are the ways in which models' copies differed from the file in public reports about
// editing tools. The matcher was written before this list, and is not fitted to it.
func reported() []slip {
	copies := []scope{inBoth, inOld}
	each := func(f func(i int, s string) string) func(*rand.Rand, *meant, scope) bool {
		return func(_ *rand.Rand, m *meant, in scope) bool { return m.untouched() && m.each(in, f) }
	}
	deeper := func(by string) func(int, string) string {
		return func(_ int, s string) string {
			if blank(s) {
				return s
			}
			return by + s
		}
	}
	less := func(by string) func(*rand.Rand, *meant, scope) bool {
		return func(_ *rand.Rand, m *meant, in scope) bool {
			for _, s := range append(append([]string{}, m.old...), m.new...) {
				if !blank(s) && !strings.HasPrefix(s, by) {
					return false
				}
			}
			return m.untouched() && m.each(in, func(_ int, s string) string { return strings.TrimPrefix(s, by) })
		}
	}
	whole := func(f func(string) string) func(*rand.Rand, *meant, scope) bool {
		return func(_ *rand.Rand, m *meant, in scope) bool {
			old := strings.Join(m.old, "\n")
			m.around(in, f)
			return f(old) != old
		}
	}
	return []slip{
		// Pi, issue 7836: GLM leaves out the first tab of a row, DeepSeek writes one more.
		{"a tab less", less("\t"), copies}, {"a tab more", each(deeper("\t")), copies},
		{"a tab less on one line", oneLine(func(s string) string { return strings.TrimPrefix(s, "\t") }), copies},
		{"a tab more on one line", oneLine(func(s string) string { return "\t" + s }), copies},
		// OpenCode, issue 44996: four blanks for three.
		{"a blank more", each(deeper(" ")), copies}, {"a blank less", less(" "), copies},
		// Strands, issue 3175: each tab as eight blanks; Claude Code, issue 9163, as four.
		{"tabs as eight blanks", each(func(_ int, s string) string { return strings.ReplaceAll(s, "\t", "        ") }), copies},
		{"tabs as four blanks", each(func(_ int, s string) string {
			return strings.Repeat("    ", strings.Count(indentOf(s), "\t")) + strings.TrimLeft(s, "\t")
		}), copies},
		// Hermes, issue 88264: the first line begins in the first column, in a file with CRLF.
		{"first line at the margin, CRLF", func(_ *rand.Rand, m *meant, in scope) bool {
			if !m.untouched() || m.reindents() {
				return false
			}
			m.end = "\r\n"
			return m.each(in, func(i int, s string) string {
				if i == 0 {
					return strings.TrimLeft(s, " \t")
				}
				return s
			})
		}, copies},
		// Copilot CLI, issue 3254, and Claude Code, issue 26141: straight quotes for curly ones.
		{"straight quotes", each(func(_ int, s string) string {
			return strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "—", "-").Replace(s)
		}), copies},
		// Xal, issue 42: the numbers of read, right-aligned before a colon.
		{"read's numbers", func(_ *rand.Rand, m *meant, in scope) bool {
			return m.untouched() && m.each(in, func(i int, s string) string {
				return strings.Repeat(" ", 5) + Number(m.first+i, 0, "")[:len(Number(m.first+i, 0, ""))-2] + ": " + s
			})
		}, copies},
		// Claude Code, issue 37403: its own numbers, an arrow behind them.
		{"an arrow behind numbers", func(_ *rand.Rand, m *meant, in scope) bool {
			return m.untouched() && m.each(in, func(i int, s string) string { return strings.TrimRight(Number(m.first+i, 6, ""), " ") + "→" + s })
		}, copies},
		// Aft, issue 83: the file has blanks at the ends of lines, the copy has not.
		{"the file's blanks at ends", func(rng *rand.Rand, m *meant, in scope) bool {
			if !m.untouched() || in != inBoth {
				return false
			}
			for i, it := range m.items {
				if it.kept() && !blank(it.old) && rng.IntN(2) == 0 {
					m.items[i] = item{old: it.old + "   ", had: true, next: []string{it.old + "   "}}
				}
			}
			return !m.untouched()
		}, copies},
		// Pi, issue 7836: a run of blanks inside a line, a missing empty line, a printed escape.
		{"another run of blanks", keptSlip(func(_ *rand.Rand, s string) string { return strings.Replace(s, " ", "  ", 1) }), copies},
		{"an empty line missing", forgotten(1, isBlank), copies},
		{"escapes printed", whole(func(s string) string { return strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(s) }), copies},
		// Qwen Code, issue 3061: a blank behind the sign of a comment.
		{"a blank in a comment", keptSlip(func(_ *rand.Rand, s string) string { return strings.Replace(s, "//", "// ", 1) }), copies},
		// OpenSeek, issue 420: the copy is older than the file.
		{"an older copy", func(rng *rand.Rand, m *meant, in scope) bool {
			o, _, ok := m.keptAt(rng, hasText)
			if ok {
				m.old[o] = indentOf(m.old[o]) + likeIt(rng, strings.TrimSpace(m.old[o]))
			}
			return ok && m.old[o] != m.items[o].old && in == inOld
		}, copies},
		// Cline, Gemini CLI and others: entities in the place of < and &.
		{"entities", whole(func(s string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s) }), copies},
	}
}

// oneLine disturbs one kept line in the texts that the scope names.
func oneLine(f func(string) string) func(*rand.Rand, *meant, scope) bool {
	return func(rng *rand.Rand, m *meant, in scope) bool {
		o, n, ok := m.keptAt(rng, hasText)
		if !ok || f(m.old[o]) == m.old[o] {
			return false
		}
		if m.old[o] = f(m.old[o]); in == inBoth {
			m.new[n] = m.old[o]
		}
		return true
	}
}

// The long run makes 10,000 calls: ADZE_TESTS=long go test -v -run Reported .
func TestReportedSlipsAreRightOrRefused(t *testing.T) {
	count := effort.Rounds(500, 1_500, 10_000)
	all := census(t, count, reported())
	if all[outWrong] > max(2, count/2000) {
		t.Errorf("%d of %d edits were written as nobody meant them", all[outWrong], count)
	}
}
