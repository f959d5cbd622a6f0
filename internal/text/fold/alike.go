package fold

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

var stamp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\[(<]?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\[?\s*\d+\.\d{3,6}\])(?:[.,]\d+)?(?:Z|\s?[+-]\d\d:?\d\d)?`)
})

// timed finds lines equal apart from a leading timestamp.
func (f *folder) timed(i int) run {
	rest, ok := unstamped(f.lines[i])
	if !ok {
		return run{}
	}
	end := i + 1
	for end < len(f.lines) {
		other, ok := unstamped(f.lines[end])
		if !ok || !sameLine(other, rest) {
			break
		}
		end++
	}
	return run{end - i, 1, 1, between(end-i-2, "like the one above but for the time")}
}

func unstamped(line string) (string, bool) {
	if line == "" || !strings.ContainsRune("[(<0123456789ADFJMNOS", rune(line[0])) {
		return "", false
	}
	end := len(stamp().FindString(line))
	return line[end:], end > 0
}

func between(n int, what string) string {
	if n == 1 {
		return "(… 1 line " + what + ")"
	}
	return fmt.Sprintf("(… %s lines %s)", Count(int64(n)), what)
}

// moving matches the changing parts in a progress line: percentages, amounts, rates, times and bar
// characters.
var moving = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+(?:\.\d+)?\s?%|\d+(?:\.\d+)?\s?(?:[kKMGT]i?)?[bB](?:/s|ps)?\b|\d+(?::\d\d){1,2}\b|-+:-+(?::-+)?|\b\d+(?:\.\d+)?\s?(?:ms|s|sec|m|h)\b|[#=>.█▏▎▍▌▋▊▉░▒▓━╸╺─·○●\- ]{2,}|[#=>█▏▎▍▌▋▊▉░▒▓━╸╺]|\x00+`)
})

// part matches a count of a total such as 12/40 or "12 of 40", or a percentage.
var part = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(\d+)(?:\.\d+)?(?:\s?(%)|(\s?/\s?|\sof\s)(\d+)\b)`)
})

// progress finds lines that differ only in their progress, which never decreases.
func (f *folder) progress(i int) run {
	first, at, ok := f.step(i)
	if !ok {
		return run{}
	}
	end := i + 1
	for end < len(f.lines) {
		next, further, ok := f.step(end)
		if !ok || next != first || further < at {
			break
		}
		at = further
		end++
	}
	if end-i > leastRun {
		f.steps -= min(f.steps, end-i)
	}
	return run{end - i, 1, 1, between(end-i-2, "of progress like these")}
}

// mostSteps bounds the lines compared as progress in vain.
const mostSteps = 300

type stepResult struct {
	line  int
	still string
	at    int64
	ok    bool
}

func (f *folder) step(line int) (still string, at int64, ok bool) {
	if s := f.newest; s.line == line+1 {
		return s.still, s.at, s.ok
	}
	if f.steps >= mostSteps {
		return "", 0, false
	}
	if still, at, ok = step(f.lines[line]); still != "" {
		f.steps++
	}
	f.newest = stepResult{line + 1, still, at, ok}
	return still, at, ok
}

// step returns a progress line without its moving parts, and its position.
func step(line string) (still string, at int64, ok bool) {
	if len(line) > 400 || !mayBePart(line) {
		return "", 0, false
	}
	m := part().FindStringSubmatch(line)
	if m == nil {
		return "", 0, false
	}
	at, err := strconv.ParseInt(m[1], 10, 63)
	if err != nil {
		return "", 0, false
	}
	line = part().ReplaceAllString(line, "\x00$3$4")
	line = moving().ReplaceAllString(line, "\x00")
	return strings.TrimRight(strings.ReplaceAll(line, "\x00\x00", "\x00"), " \x00\r\n"), at, true
}

// mayBePart reports whether a digit precedes a part's mark, to avoid most regexp matches.
func mayBePart(line string) bool {
	for i := 1; i < len(line); i++ {
		if d := line[i-1]; d < '0' || d > '9' {
			continue
		}
		switch rest := strings.TrimPrefix(line[i:], " "); {
		case rest != "" && (rest[0] == '%' || rest[0] == '/'), strings.HasPrefix(rest, "of "):
			return true
		}
	}
	return false
}

// counted finds lines in which each number is constant or grows by a constant step, so that the
// first ones and the last imply all others.
func (f *folder) counted(i int) run {
	if i+1 >= len(f.lines) {
		return run{}
	}
	key, first := numbers(f.lines[i])
	if len(first) == 0 {
		return run{}
	}
	other, second := numbers(f.lines[i+1])
	if other != key {
		return run{}
	}
	end, last := i+2, second
	for end < len(f.lines) {
		other, next := numbers(f.lines[end])
		if other != key || !goesOn(first, second, last, next) {
			break
		}
		end, last = end+1, next
	}
	return run{end - i, 2, 1, between(end-i-3, "that count on the same way")}
}

func goesOn(first, second, last, next []int64) bool {
	for n := range first {
		if next[n]-last[n] != second[n]-first[n] {
			return false
		}
	}
	return true
}

// numbers returns a line's numbers, and the line without them. Numbers with too many digits are
// text.
func numbers(line string) (key string, values []int64) {
	line = strings.TrimSuffix(line, "\n")
	if len(line) > 1000 {
		return line, nil
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		end := i
		for end < len(line) && '0' <= line[end] && line[end] <= '9' {
			end++
		}
		switch {
		case end == i:
			b.WriteByte(line[i])
			end = i + 1
		case end-i > 15:
			b.WriteString(line[i:end])
		default:
			n, _ := strconv.ParseInt(line[i:end], 10, 64) // fifteen digits fit
			values = append(values, n)
			b.WriteByte(0)
		}
		i = end
	}
	return b.String(), values
}

// Lists of at least linkFarm links are shortened to the first linksBefore and the last linksAfter.
const (
	linksBefore, linksAfter = 20, 5
	linkFarm                = 60
)

// onlyLink matches a Markdown line with links and almost nothing else.
var onlyLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*+]\s+|\d+[.)]\s+|#+\s+)?(?:\[[^\]]*\]\([^)\s]*(?:\s+"[^"]*")?\)|<?https?://\S+>?)(?:[\s|,·•;/-]*(?:\[[^\]]*\]\([^)\s]*(?:\s+"[^"]*")?\)|<?https?://\S+>?))*[\s.,;|]{0,4}(?:\S{1,12}\s?){0,3}$`)
})

// links finds lines with nothing but links; only a few are shown.
func (f *folder) links(i int) run {
	end, found := i, 0 // end is after the last link
	for at := i; at < len(f.lines); at++ {
		line := strings.TrimSuffix(f.lines[at], "\n")
		if strings.TrimSpace(line) == "" && found > 0 {
			continue
		}
		if len(line) > 4000 || !strings.Contains(line, "://") || !onlyLink().MatchString(line) {
			break
		}
		end, found = at+1, found+1
	}
	if found < linkFarm {
		return run{lines: min(end-i, leastRun-1)}
	}
	return run{end - i, linksBefore, linksAfter, between(end-i-linksBefore-linksAfter, "of links like these")}
}
